//! A client that knows nothing of sixlo, over our stack and a TUN device, against a server of the Linux kernel.
#![cfg(target_os = "linux")]

#[path = "../../sixlo-host/tests/support/mod.rs"]
mod support;

use std::future::Future;
use std::io::{Read, Write};
use std::net::{IpAddr, Ipv6Addr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time;

use embedded_nal_async::{AddrType, Dns};
use reqwless::client::HttpClient;
use reqwless::request::Method;
use sixlo::ipv6::Route;
use sixlo::netdev::{IfaceId, RxInfo, TxOutcome, TxReport};
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::time::Instant;
use sixlo_embedded::Net;
use sixlo_host::driver::Device;
use sixlo_host::tun::Tun;
use support::{KERNELS, OURS, in_namespace};

const IFACE: IfaceId = IfaceId(0);
const CONTENT: &str = "what the kernel's side says, again and again\n";

type Store = Fixed<32768, 96, 1, 1, 2, 0, 0, 2, 9216, 1, 1>;

fn stack() -> Stack<'static> {
    let memory = Box::leak(Box::new(Store::new()));
    let mut stack = Stack::new(memory.lend(), &Config::new(7)).expect("the memory suffices");
    stack
        .bring_up(IFACE, IfaceConfig::packets([2, 0, 0, 0, 0, 0, 0, 1]))
        .expect("an interface");
    stack.add_address(IFACE, OURS).expect("room");
    let next_hop = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2);
    stack
        .add_route(Route::default_via(IFACE, next_hop))
        .expect("room");
    stack
}

struct Flag(AtomicBool);

impl Wake for Flag {
    fn wake(self: Arc<Self>) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Runs a task to its end, which is polled only when it was woken, and the stack and the device beside it.
fn run<R, C: Fn() -> Instant>(net: &Net<'_, C, 2>, mut tun: Tun, task: impl Future<Output = R>) -> R {
    let mut task = pin!(task);
    let flag = Arc::new(Flag(AtomicBool::new(true)));
    let waker = Waker::from(flag.clone());
    let mut packet = [0; 1281];
    let limit = time::Instant::now() + time::Duration::from_secs(60);
    while time::Instant::now() < limit {
        if flag.0.swap(false, Ordering::Relaxed)
            && let Poll::Ready(result) = task.as_mut().poll(&mut Context::from_waker(&waker))
        {
            return result;
        }
        let sent = net.drive(|stack, now| {
            stack.poll(now, &mut ());
            let info = stack.transmit(now, IFACE, &mut packet, &mut ())?;
            let report = TxReport {
                outcome: TxOutcome::Sent,
                attempts: 1,
                busy: 0,
            };
            stack.transmitted(now, IFACE, report, &mut ());
            Some(info.len)
        });
        if let Some(len) = sent {
            tun.send(Instant::ZERO, &packet[..len]).expect("a device");
        }
        match tun.receive(Instant::ZERO, &mut packet).expect("a device") {
            Some(len) => net.drive(|stack, now| {
                stack.frame(now, IFACE, &packet[..len], RxInfo::default(), &mut ());
            }),
            None if sent.is_none() => thread::sleep(time::Duration::from_millis(1)),
            None => {}
        }
    }
    panic!("the task does not end");
}

/// Knows one name.
struct Names;

impl Dns for Names {
    type Error = &'static str;

    async fn get_host_by_name(&self, _: &str, _: AddrType) -> Result<IpAddr, &'static str> {
        Ok(KERNELS.into())
    }

    async fn get_host_by_address(&self, _: IpAddr, _: &mut [u8]) -> Result<usize, &'static str> {
        Err("not known")
    }
}

/// `reqwless`, as it is published.
#[test]
fn an_unmodified_http_client_reads_from_the_kernel() {
    in_namespace(|tun| {
        let listener = TcpListener::bind((KERNELS, 8080)).expect("a port");
        let server = thread::spawn(move || {
            let (mut socket, _) = listener.accept().expect("a connection");
            let mut head = Vec::new();
            while !head.ends_with(b"\r\n\r\n") {
                let mut byte = [0];
                socket.read_exact(&mut byte).expect("a request");
                head.extend(byte);
            }
            let content = CONTENT.repeat(1000);
            write!(
                socket,
                "HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{content}",
                content.len()
            )
            .expect("a client");
            String::from_utf8(head).expect("text")
        });
        let start = time::Instant::now();
        let net = Net::new(stack(), || {
            Instant::from_micros(start.elapsed().as_micros() as u64)
        });
        let body = run(&net, tun, async {
            let mut client = HttpClient::new(&net, &Names);
            let mut request = client
                .request(Method::GET, "http://kernel:8080/page")
                .await
                .expect("a connection");
            let mut buffer = vec![0; 60_000];
            let response = request.send(&mut buffer).await.expect("an answer");
            assert_eq!(response.status.0, 200);
            response.body().read_to_end().await.expect("the content").to_vec()
        });
        assert!(body == CONTENT.repeat(1000).into_bytes());
        let head = server.join().expect("a request");
        assert!(head.starts_with("GET /page HTTP/1.1\r\n"), "{head}");
    });
}
