//! Two stacks over a link that loses, reorders, duplicates, corrupts and delays frames at random: whatever it does, each end
//! gets the stream of the other or an error, and nothing is left when all is over.

#[path = "support/tcp.rs"]
mod tcp;
#[path = "support/weather.rs"]
mod weather;

use sixlo::congure::Kind;
use sixlo::rng::Rng;
use sixlo::stack::{Fixed, Stack};
use sixlo::tcp::{ConnectionId, ListenerId, TcpConfig, TcpError};
use sixlo::time::{Duration, Instant};
use tcp::{OWN_PORT, PORT, Store, addr, bytes, node_in};
use weather::{Link, Weather};

/// A run that is longer has come to nothing.
const LONGEST: Duration = Duration::from_secs(4 * 3600);

/// How one end uses its connection.
struct Habits {
    /// Bytes that it sends, and how many it hands over at most at once.
    sends: usize,
    chunk: usize,
    /// It writes into the stack's buffer.
    in_place: bool,
    /// Bytes that it reads at once, and the longest pause before it does.
    reads: usize,
    pause_ms: u32,
    /// It looks where the data lies.
    peeks: bool,
    /// It closes as soon as it has handed over everything, without having read all.
    hasty: bool,
    /// It aborts after this time.
    aborts_at: Option<Duration>,
}

impl Habits {
    fn draw(rng: &mut Rng, mild: bool) -> Self {
        let most = [1, 300, 3000, 12_000][rng.below(4) as usize];
        let pause_ms = [0, 50, 3000][rng.below(3) as usize];
        // Whoever pauses for so long and takes little does not come to an end.
        let reads_min = if pause_ms > 100 { 50 } else { 1 };
        Self {
            sends: rng.below(most + 1) as usize,
            chunk: 1 + rng.below(2000) as usize,
            in_place: rng.below(2) == 0,
            reads: reads_min + rng.below(700) as usize,
            pause_ms,
            peeks: rng.below(2) == 0,
            hasty: !mild && rng.below(4) == 0,
            aborts_at: (!mild && rng.below(6) == 0).then(|| Duration::from_millis(rng.below(20_000).into())),
        }
    }
}

/// One end: a stack, what its application has done, and how it ended.
struct End<'m> {
    stack: Stack<'m>,
    habits: Habits,
    listener: Option<ListenerId>,
    id: Option<ConnectionId>,
    /// The whole stream that it sends.
    stream: Vec<u8>,
    sent: usize,
    received: Vec<u8>,
    /// It said that it sends no more.
    shut: bool,
    /// The peer has sent all.
    heard_all: bool,
    /// It gave its handle back, and it did so by an abort.
    gone: bool,
    aborted: bool,
    error: Option<TcpError>,
    reads_at: Instant,
    rng: Rng,
}

impl End<'_> {
    fn fail(&mut self, error: TcpError) -> bool {
        match error {
            TcpError::WouldBlock | TcpError::NoRoom | TcpError::NotConnected => false,
            error => {
                self.error.get_or_insert(error);
                true
            }
        }
    }

    /// Does what the application can do now; true if it did anything.
    fn step(&mut self, now: Instant) -> bool {
        if self.gone {
            return false;
        }
        let Some(id) = self.id else {
            let Some(Ok(id)) = self.listener.map(|listener| self.stack.tcp_accept(listener)) else {
                return false;
            };
            self.id = Some(id);
            return true;
        };
        let started = tcp::at(0);
        if self
            .habits
            .aborts_at
            .is_some_and(|after| now.since(started) >= after)
        {
            self.stack.tcp_abort(now, id, &mut ()).expect("it has it");
            self.aborted = true;
            self.leave();
            return true;
        }
        let mut busy = self.send(now, id);
        busy |= now >= self.reads_at && self.receive(now, id);
        let done = self.error.is_some() || self.shut && (self.heard_all || self.habits.hasty);
        if done {
            self.stack.tcp_close(now, id, &mut ()).expect("it has it");
            self.leave();
        }
        busy || done
    }

    fn leave(&mut self) {
        self.gone = true;
        self.id = None;
    }

    fn send(&mut self, now: Instant, id: ConnectionId) -> bool {
        if self.shut {
            return false;
        }
        let rest = &self.stream[self.sent..];
        if rest.is_empty() {
            let connection = self.stack.tcp_connection(id).expect("it has it");
            if !connection.state().is_synchronized() && connection.error().is_none() {
                // A connection that is not there yet ends with that (RFC 9293 section 3.10.4).
                return false;
            }
            self.shut = true;
            if let Err(error) = self.stack.tcp_shutdown(now, id, &mut ()) {
                self.fail(error);
            }
            return true;
        }
        let piece = &rest[..rest.len().min(self.habits.chunk)];
        let result = if self.habits.in_place {
            let piece = &piece[..piece.len().min(400)];
            self.stack.tcp_reserve(now, id, 400, &mut ()).map(|room| {
                room[..piece.len()].copy_from_slice(piece);
                piece.len()
            })
        } else {
            self.stack.tcp_send(now, id, piece, &mut ())
        };
        match result {
            Ok(n) => {
                if self.habits.in_place {
                    self.stack
                        .tcp_commit(now, id, n, &mut ())
                        .expect("it was reserved");
                }
                self.sent += n;
                true
            }
            Err(error) => self.fail(error),
        }
    }

    fn receive(&mut self, now: Instant, id: ConnectionId) -> bool {
        if self.heard_all {
            return false;
        }
        let mut out = vec![0; self.habits.reads];
        let result = if self.habits.peeks {
            let seen = self.stack.tcp_peek(id).map(|piece| {
                let n = piece.len().min(out.len());
                out[..n].copy_from_slice(&piece[..n]);
                n
            });
            if let Ok(n) = seen {
                self.stack.tcp_consume(now, id, n, &mut ()).expect("it has it");
            }
            seen
        } else {
            self.stack.tcp_recv(now, id, &mut out, &mut ())
        };
        if result != Err(TcpError::WouldBlock) {
            let pause = self.rng.below(self.habits.pause_ms + 1);
            self.reads_at = now + Duration::from_millis(pause.into());
        }
        match result {
            Ok(0) => self.heard_all = true,
            Ok(n) => self.received.extend(&out[..n]),
            Err(error) => return self.fail(error),
        }
        true
    }

    /// When the application wants to go on by itself.
    fn wakes_at(&self, now: Instant) -> Option<Instant> {
        self.id?;
        let reads = Some(self.reads_at).filter(|at| *at > now);
        let aborts = self.habits.aborts_at.map(|after| tcp::at(0) + after);
        [reads, aborts].into_iter().flatten().min()
    }
}

/// How TCP of an end behaves.
fn draw_config(rng: &mut Rng) -> TcpConfig {
    let mut pick = |most: u32| rng.below(most) as usize;
    let mut config = TcpConfig {
        congestion: [Kind::Reno, Kind::Abe, Kind::Quic, Kind::Calm][pick(4)],
        mss: [Some(64), Some(64), Some(100), Some(300), Some(1220), None][pick(6)],
        send_buffer: [400, 1000, 1848, 4000][pick(4)],
        sack: pick(3) > 0,
        timestamps: pick(3) > 0,
        ecn: pick(3) > 0,
        nagle: pick(2) > 0,
        delayed_ack: Duration::from_millis([0, 40, 100, 300][pick(4)]),
        ..TcpConfig::default()
    };
    if pick(2) > 0 {
        config.timer = TcpConfig::FREEBSD_TIMER;
    }
    config
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// Both streams arrived.
    Equal,
    /// One did not, and somebody was told or did not want it.
    Reported,
}

struct Run<'m> {
    ends: [End<'m>; 2],
    link: Link,
    now: Instant,
    mild: bool,
}

impl<'m> Run<'m> {
    fn new(memory: &'m mut [Store; 2], seed: u64) -> Self {
        let mut rng = Rng::new(seed);
        let mild = rng.below(2) == 0;
        let [first, second] = memory;
        let mut frames = 1;
        let mut end = |memory: &'m mut Store, k: u8| {
            let own = u64::from(rng.next_u32());
            let habits = Habits::draw(&mut rng, mild);
            let stream = bytes(u32::from(k) * 77, habits.sends as u32);
            let tcp = draw_config(&mut rng);
            frames = frames.max(1 + u32::from(tcp.mss.unwrap_or(1220)) / 100);
            let stack = node_in(memory, k, |config| {
                config.seed = own;
                config.tcp = tcp;
                // What the link doubles is not to be found out below TCP.
                config.duplicate_window = Duration::from_secs(0);
            });
            End {
                stack,
                habits,
                listener: None,
                id: None,
                stream,
                sent: 0,
                received: Vec::new(),
                shut: false,
                heard_all: false,
                gone: false,
                aborted: false,
                error: None,
                reads_at: tcp::at(0),
                rng: Rng::new(own),
            }
        };
        let mut ends = [end(first, 1), end(second, 2)];
        let now = tcp::at(0);
        // Now and then both open the same connection at once.
        let both = rng.below(8) == 0;
        let [active, passive] = &mut ends;
        let connected = active
            .stack
            .tcp_connect_from(now, OWN_PORT, (addr(2), PORT), &mut ());
        active.id = Some(connected.expect("a place"));
        if both {
            let remote = (addr(1), OWN_PORT);
            let connected = passive.stack.tcp_connect_from(now, PORT, remote, &mut ());
            passive.id = Some(connected.expect("a place"));
        } else {
            passive.listener = Some(passive.stack.tcp_listen(PORT, 2).expect("a place"));
        }
        let link = Link::new(
            Weather::draw(&mut rng, mild.then_some(frames)),
            rng.next_u32().into(),
        );
        Self {
            ends,
            link,
            now,
            mild,
        }
    }

    /// Everything that can happen now.
    fn settle(&mut self) {
        for _ in 0..200_000 {
            let now = self.now;
            let mut busy = false;
            for (from, end) in self.ends.iter_mut().enumerate() {
                busy |= end.stack.poll(now, &mut ()).is_some_and(|due| due <= now);
                busy |= self.link.take(now, from, &mut end.stack);
                busy |= self.link.give(now, from, &mut end.stack);
                busy |= end.step(now);
            }
            if !busy {
                return;
            }
        }
        panic!("the two do not settle");
    }

    /// Runs until nobody has anything to do.
    fn run(&mut self) {
        let end = self.now + LONGEST;
        loop {
            self.settle();
            let now = self.now;
            let stacks = self.ends.iter().filter_map(|end| end.stack.next_deadline(now));
            let apps = self.ends.iter().filter_map(|end| end.wakes_at(now));
            let Some(next) = stacks.chain(apps).chain(self.link.next()).min() else {
                if !self.hang_up() {
                    return;
                }
                continue;
            };
            assert!(next < end, "it does not come to an end");
            self.now = next.max(now);
        }
    }

    /// Whose peer is gone and whose stack has nothing to ask it waits for ever (RFC 9293 section 3.5.1: half-open); in the
    /// end, the application loses its patience. True if one did.
    fn hang_up(&mut self) -> bool {
        let [first, second] = &mut self.ends;
        let (end, peer) = if second.gone {
            (first, second)
        } else {
            (second, first)
        };
        let Some(id) = end.id.filter(|_| peer.gone && !self.mild) else {
            return false;
        };
        end.stack.tcp_abort(self.now, id, &mut ()).expect("it has it");
        end.aborted = true;
        end.leave();
        true
    }

    fn verdict(&mut self) -> Verdict {
        let mut verdict = Verdict::Equal;
        for to in 0..2 {
            let (sender, receiver) = (&self.ends[1 - to], &self.ends[to]);
            let stream = &sender.stream;
            assert!(
                stream.starts_with(&receiver.received),
                "not the stream that node {} sent",
                2 - to
            );
            if receiver.heard_all {
                assert_eq!(receiver.received.len(), stream.len(), "the end came before it");
                continue;
            }
            // A listener that nobody came to knows of nothing.
            let never = receiver.id.is_none() && !receiver.gone && sender.gone;
            let wanted = receiver.gone && (receiver.habits.hasty || receiver.aborted);
            assert!(
                never || wanted || receiver.error.is_some(),
                "nobody told node {}",
                to + 1
            );
            verdict = Verdict::Reported;
        }
        for end in &mut self.ends {
            if let Some(listener) = end.listener.take() {
                end.stack
                    .tcp_close_listener(self.now, listener, &mut ())
                    .expect("it listens");
            }
            assert_eq!(end.id, None, "it is open");
            assert_eq!(end.stack.next_deadline(self.now), None, "a timer is left");
            let buffer = end.stack.buffer();
            assert_eq!((buffer.live(), buffer.used()), (0, 0), "packets are left");
            assert_eq!(end.stack.audit(), 0, "a leak");
        }
        verdict
    }
}

/// What came of a seed, in a thread that says which one it was.
fn run(seed: u64) -> (Verdict, bool) {
    let mut memory = Box::new([Fixed::new(), Fixed::new()]);
    let mut run = Run::new(&mut memory, seed);
    run.run();
    (run.verdict(), run.mild)
}

/// Runs these seeds, and says which ones failed.
fn run_all(seeds: core::ops::Range<u64>) {
    let (mut equal, mut mild) = (0, 0);
    let mut failed = Vec::new();
    for seed in seeds.clone() {
        match std::panic::catch_unwind(|| run(seed)) {
            Ok((Verdict::Equal, is_mild)) => {
                equal += 1;
                mild += u64::from(is_mild);
            }
            // In mild weather, nobody ends a connection early.
            Ok((Verdict::Reported, true)) | Err(_) => failed.push(seed),
            Ok((Verdict::Reported, false)) => {}
        }
    }
    assert_eq!(failed, [], "seeds");
    println!("both streams arrived {equal} times, {mild} times in mild weather");
    assert!(
        2 * equal > seeds.end - seeds.start,
        "both streams arrived {equal} times"
    );
}

#[test]
fn streams_arrive_or_errors_are_told_whatever_the_link_does() {
    run_all(0..500);
}

#[test]
#[ignore = "twenty times as long: cargo test --release -p sixlo --test tcp_random -- --ignored"]
fn streams_arrive_or_errors_are_told_over_ten_thousand_links() {
    run_all(1_000..11_000);
}
