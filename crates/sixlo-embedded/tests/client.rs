//! Clients that know nothing of sixlo, against the HTTP server of `sixlo-services` on a second stack, in virtual time.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use embedded_io_async::{ErrorKind, Read, ReadReady, Write, WriteReady};
use embedded_nal_async::{AddrType, Dns, TcpConnect};
use reqwless::client::HttpClient;
use reqwless::request::Method;
use sixlo::ipv6::Neighbor;
use sixlo::netdev::{IfaceId, RxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::tcp::TcpError;
use sixlo::time::{Duration, Instant};
use sixlo::wire::addr::LinkAddr;
use sixlo_embedded::{Error, Net};
use sixlo_services::{Node, Room, Service, Services, pattern};

const IFACE: IfaceId = IfaceId(0);
const SERVER: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
const CLIENT: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);

type Store = Fixed<32768, 96, 2, 8, 4, 0, 0, 4, 9216, 4, 4>;

fn stack(k: u8) -> Stack<'static> {
    let eui = |k| [2, 0, 0, 0, 0, 0, 0, k];
    let memory = Box::leak(Box::new(Store::new()));
    let mut stack = Stack::new(memory.lend(), &Config::new(u64::from(k))).expect("the memory suffices");
    stack
        .bring_up(IFACE, IfaceConfig::packets(eui(k)))
        .expect("an interface");
    let (addr, link) = match k {
        1 => (CLIENT, LinkAddr::Extended(eui(2))),
        _ => (SERVER, LinkAddr::Extended(eui(1))),
    };
    let neighbor = Neighbor {
        iface: IFACE,
        addr,
        link,
    };
    stack.add_neighbor(neighbor).expect("room");
    stack
}

/// Both stacks, the services of one, and the time. A packet takes a millisecond.
struct World {
    net: Net<'static, Box<dyn Fn() -> Instant>, 4>,
    server: RefCell<Stack<'static>>,
    services: RefCell<Services<'static, Node<'static>>>,
    now: &'static Cell<Instant>,
    /// Whether packets arrive.
    connected: Cell<bool>,
}

/// Notes that it was woken.
#[derive(Default)]
struct Flag(AtomicBool, AtomicUsize);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
        self.1.fetch_add(1, Ordering::Relaxed);
    }
}

impl World {
    fn new() -> Self {
        let room: &'static mut Room<2, 2048> = Box::leak(Box::new(Room::new()));
        let mut server = stack(1);
        let mut services = Services::new(room.lend(), Node::new(Node::PAGES, &mut []));
        for service in [Service::Http, Service::TcpEcho, Service::TcpDiscard] {
            services
                .open(&mut server, service, service.port())
                .expect("a place");
        }
        let now: &'static Cell<Instant> = Box::leak(Box::new(Cell::new(Instant::from_micros(1_000_000))));
        Self {
            net: Net::new(stack(2), Box::new(|| now.get())),
            server: RefCell::new(server),
            services: RefCell::new(services),
            now,
            connected: Cell::new(true),
        }
    }

    /// Carries packets until there are none; says when anybody wants to run again.
    fn step(&self) -> Option<Instant> {
        let now = self.now.get();
        let server = &mut *self.server.borrow_mut();
        loop {
            let mut packet = [0; 1280];
            let mut moved = false;
            let sent = self.net.drive(|client, now| {
                client.poll(now, &mut ());
                transmit(client, now, &mut packet)
            });
            if let Some(len) = sent {
                moved = true;
                if self.connected.get() {
                    server.frame(now, IFACE, &packet[..len], RxInfo::default(), &mut ());
                }
            }
            server.poll(now, &mut ());
            let wake = self.services.borrow_mut().turn(server, now, &mut ());
            if let Some(len) = transmit(server, now, &mut packet) {
                moved = true;
                if self.connected.get() {
                    self.net.drive(|client, now| {
                        client.frame(now, IFACE, &packet[..len], RxInfo::default(), &mut ());
                    });
                }
            }
            let client = self.net.drive(|client, now| client.next_deadline(now));
            let deadline = [client, server.next_deadline(now), wake]
                .into_iter()
                .flatten()
                .min();
            if !moved && deadline.is_none_or(|at| at > now) {
                return deadline;
            }
        }
    }

    /// Runs a task to its end. It is polled only when it was woken; gives how often that was, too.
    fn run<R>(&self, task: impl Future<Output = R>) -> (R, usize) {
        let mut task = pin!(task);
        let flag = Arc::new(Flag::default());
        flag.0.store(true, Ordering::Relaxed);
        let waker = Waker::from(flag.clone());
        for polls in 1.. {
            if flag.0.swap(false, Ordering::Relaxed)
                && let Poll::Ready(result) = task.as_mut().poll(&mut Context::from_waker(&waker))
            {
                self.step();
                return (result, flag.1.load(Ordering::Relaxed));
            }
            let deadline = self.step();
            if !flag.0.load(Ordering::Relaxed) {
                let at = deadline.expect("a task waits, and nothing will ever wake it");
                self.now.set(self.now.get().max(at));
            }
            assert!(polls < 100_000, "the task does not end");
        }
        unreachable!()
    }
}

fn transmit(stack: &mut Stack<'_>, now: Instant, packet: &mut [u8]) -> Option<usize> {
    let info = stack.transmit(now, IFACE, packet, &mut ())?;
    let report = TxReport {
        outcome: TxOutcome::Sent,
        attempts: 1,
        busy: 0,
    };
    stack.transmitted(now, IFACE, report, &mut ());
    Some(info.len)
}

fn at(port: u16) -> SocketAddr {
    (SERVER, port).into()
}

/// Knows one name.
struct Names;

impl Dns for Names {
    type Error = String;

    async fn get_host_by_name(&self, host: &str, _: AddrType) -> Result<IpAddr, String> {
        match host {
            "node" => Ok(SERVER.into()),
            _ => Err(format!("no such host: {host}")),
        }
    }

    async fn get_host_by_address(&self, _: IpAddr, _: &mut [u8]) -> Result<usize, String> {
        Err("not known".to_owned())
    }
}

/// `reqwless`, as it is published: status and content of a page.
async fn fetch(world: &World, path: &str) -> (u16, Vec<u8>) {
    let mut client = HttpClient::new(&world.net, &Names);
    let url = format!("http://node{path}");
    let mut request = client.request(Method::GET, &url).await.expect("a connection");
    let mut buffer = vec![0; 24_000];
    let response = request.send(&mut buffer).await.expect("an answer");
    let status = response.status.0;
    let body = response.body().read_to_end().await.expect("the content");
    (status, body.to_vec())
}

#[test]
fn an_unmodified_http_client_reads_from_our_server() {
    let world = World::new();
    let task = async {
        for (path, len) in [("/bytes/20000", 20_000), ("/bytes/0", 0)] {
            let expected = (0..len).map(pattern).collect::<Vec<u8>>();
            assert!(fetch(&world, path).await == (200, expected), "{path}");
        }
        // In chunks.
        let (status, body) = fetch(&world, "/counters").await;
        assert_eq!(status, 200);
        assert!(body.starts_with(b"{\"time_us\":") && body.ends_with(b"}\n"));
        assert_eq!(fetch(&world, "/none").await.0, 404);
    };
    let ((), wakes) = world.run(task);
    assert!(wakes < 200, "woken {wakes} times for some 20 segments of data");
    // Dropped connections are closed, and their places given back.
    world.now.set(world.now.get() + Duration::from_secs(200));
    world.step();
    assert_eq!(world.services.borrow().conversations(), 0);
    world
        .net
        .drive(|client, _| assert_eq!((client.buffer().live(), client.audit()), (0, 0)));
}

#[test]
fn streams_go_both_ways() {
    let world = World::new();
    let (back, _) = world.run(async {
        let mut echo = world.net.connect(at(7)).await.expect("a connection");
        let mut back = Vec::new();
        for n in 0..50 {
            let sent = [n; 300];
            echo.write_all(&sent).await.expect("a connection");
            echo.flush().await.expect("a connection");
            let mut piece = [0; 300];
            echo.read_exact(&mut piece).await.expect("a connection");
            back.extend(piece);
        }
        echo.shutdown().expect("it is open");
        assert_eq!(echo.read(&mut [0; 10]).await, Ok(0), "the end");
        back
    });
    assert!(back == (0..50).flat_map(|n| [n; 300]).collect::<Vec<u8>>());
}

/// Who writes more than fits sleeps until there is room: each time for what one acknowledgement frees.
#[test]
fn a_writer_is_woken_when_there_is_room() {
    let world = World::new();
    let ((), wakes) = world.run(async {
        let mut sink = world.net.connect(at(9)).await.expect("a connection");
        sink.write_all(&[0; 100_000]).await.expect("a connection");
    });
    assert!((20..200).contains(&wakes), "{wakes} times for 82 segments");
}

#[test]
fn readiness_is_told_without_waiting() {
    let world = World::new();
    world.run(async {
        let mut echo = world.net.connect(at(7)).await.expect("a connection");
        assert_eq!(echo.read_ready(), Ok(false));
        assert_eq!(echo.write_ready(), Ok(true));
        echo.write_all(b"abc").await.expect("a connection");
        let mut first = [0];
        echo.read_exact(&mut first).await.expect("a connection");
        assert_eq!(echo.read_ready(), Ok(true));
        echo.read_exact(&mut [0; 2]).await.expect("a connection");
        assert_eq!(echo.read_ready(), Ok(false));
    });
}

/// Errors have the kinds of `embedded-io`.
#[test]
fn failures_are_told() {
    let world = World::new();
    world.run(async {
        let kind = |error: Error| embedded_io_async::Error::kind(&error);
        let refused = world.net.connect(at(81)).await.err().map(kind);
        assert_eq!(refused, Some(ErrorKind::ConnectionRefused));
        let v4 = world
            .net
            .connect(([127, 0, 0, 1], 80).into())
            .await
            .err()
            .map(kind);
        assert_eq!(v4, Some(ErrorKind::AddrNotAvailable));
        let mut echo = world.net.connect(at(7)).await.expect("a connection");
        echo.shutdown().expect("open");
        assert_eq!(
            echo.write(b"more").await.map_err(kind),
            Err(ErrorKind::BrokenPipe)
        );
        // All four connections.
        let mut all = Vec::new();
        let full = loop {
            match world.net.connect(at(9)).await {
                Ok(connection) => all.push(connection),
                Err(error) => break error,
            }
        };
        assert_eq!(full, Error(TcpError::NoConnection));
    });
    world.connected.set(false);
    let (gone, wakes) = world.run(world.net.connect(at(7)));
    assert_eq!(gone.err(), Some(Error(TcpError::TimedOut)));
    assert!(
        wakes < 10,
        "a task that waits minutes is woken at the end: {wakes}"
    );
}

/// A task that is given up while it waits leaves no connection and no place behind.
#[test]
fn tasks_may_be_given_up() {
    let world = World::new();
    world.connected.set(false);
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..20 {
        let mut task = Box::pin(world.net.connect(at(7)));
        assert!(Pin::as_mut(&mut task).poll(&mut context).is_pending());
    }
    world.connected.set(true);
    let (mut echo, _) = world.run(world.net.connect(at(7)));
    let echo = echo.as_mut().expect("there is a place");
    for _ in 0..20 {
        let mut piece = [0; 4];
        let mut task = Box::pin(echo.read(&mut piece));
        assert!(Pin::as_mut(&mut task).poll(&mut context).is_pending());
    }
    world.run(async {
        echo.write_all(b"here").await.expect("a connection");
        let mut piece = [0; 4];
        echo.read_exact(&mut piece).await.expect("a connection");
        assert_eq!(&piece, b"here");
    });
}

/// More tasks than places to wait.
#[test]
fn one_too_many_is_told_so() {
    let world = World::new();
    let mut context = Context::from_waker(Waker::noop());
    let mut listeners: Vec<_> = (0..4).map(|n| world.net.listen(1000 + n, 1)).collect();
    let mut waiting: Vec<_> = listeners
        .iter_mut()
        .map(|it| Box::pin(it.as_mut().expect("a listener").accept()))
        .collect();
    for task in &mut waiting {
        assert!(task.as_mut().poll(&mut context).is_pending());
    }
    let mut one_more = Box::pin(world.net.connect(at(7)));
    let Poll::Ready(Err(error)) = one_more.as_mut().poll(&mut context) else {
        panic!("there is no place to wait");
    };
    assert_eq!(error, Error(TcpError::NoRoom));
}

/// The driver sleeps until a task has called the stack.
#[test]
fn the_driver_is_woken_by_tasks() {
    let world = World::new();
    let flag = Arc::new(Flag::default());
    let waker = Waker::from(flag.clone());
    let mut context = Context::from_waker(&waker);
    let mut changed = Box::pin(world.net.changed());
    assert!(changed.as_mut().poll(&mut context).is_pending());
    let mut task = Box::pin(world.net.connect(at(7)));
    assert!(task.as_mut().poll(&mut context).is_pending());
    assert_eq!(flag.1.load(Ordering::Relaxed), 1);
    assert!(changed.as_mut().poll(&mut context).is_ready());
    let mut again = Box::pin(world.net.changed());
    assert!(again.as_mut().poll(&mut context).is_pending());
}
