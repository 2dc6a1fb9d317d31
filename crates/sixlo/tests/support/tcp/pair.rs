//! Two stacks against each other, in virtual time.

use sixlo::netdev::{FRAME_LEN_MAX, RxInfo, TxOutcome, TxReport};
use sixlo::stack::{Config, Stack};
use sixlo::tcp::{ConnectionId, TcpError};
use sixlo::time::{Duration, Instant};

use super::{IFACE, PORT, addr, at, node};

/// What the link between two stacks does with a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// It arrives.
    Arrives,
    /// It does not, and the sender's device says that it did.
    Lost,
}

/// Two stacks, nodes 1 and 2, over a link that carries a frame in no time or loses it.
pub(crate) struct Pair {
    pub(crate) stacks: [Stack<'static>; 2],
    pub(crate) now: Instant,
    /// What becomes of frame number n.
    pub(crate) fate: Box<dyn FnMut(usize) -> Fate>,
    pub(crate) frames: usize,
}

impl Pair {
    pub(crate) fn new(change: impl Fn(&mut Config)) -> Self {
        Self {
            stacks: [node(1, &change), node(2, &change)],
            now: at(0),
            fate: Box::new(|_| Fate::Arrives),
            frames: 0,
        }
    }

    /// A connection that node 1 opened to node 2: the handles of both.
    pub(crate) fn connected(&mut self) -> [ConnectionId; 2] {
        let listener = self.stacks[1].tcp_listen(PORT, 2).expect("a listener");
        let client = self.stacks[0]
            .tcp_connect(self.now, (addr(2), PORT), &mut ())
            .expect("a place");
        self.pass(Duration::from_secs(30));
        let server = self.stacks[1]
            .tcp_accept(listener)
            .expect("the handshake is over");
        self.stacks[1]
            .tcp_close_listener(self.now, listener, &mut ())
            .expect("it listens");
        [client, server]
    }

    fn exchange(&mut self, from: usize) -> bool {
        let mut frame = [0; FRAME_LEN_MAX];
        let Some(info) = self.stacks[from].transmit(self.now, IFACE, &mut frame, &mut ()) else {
            return false;
        };
        let fate = (self.fate)(self.frames);
        self.frames += 1;
        if fate == Fate::Arrives {
            self.stacks[1 - from].frame(self.now, IFACE, &frame[..info.len], RxInfo::default(), &mut ());
        }
        let report = TxReport {
            outcome: TxOutcome::Acked,
            attempts: 1,
            busy: 0,
        };
        self.stacks[from].transmitted(self.now, IFACE, report, &mut ());
        true
    }

    /// Runs until nobody has anything to do but timers.
    pub(crate) fn settle(&mut self) {
        for _ in 0..100_000 {
            let mut busy = false;
            for from in 0..2 {
                let now = self.now;
                busy |= self.stacks[from].poll(now, &mut ()).is_some_and(|due| due <= now);
                busy |= self.exchange(from);
            }
            if !busy {
                return;
            }
        }
        panic!("the two do not settle");
    }

    /// The next instant at which anybody wants to run.
    pub(crate) fn next(&self) -> Option<Instant> {
        self.stacks
            .iter()
            .filter_map(|stack| stack.next_deadline(self.now))
            .min()
    }

    /// Lets time pass, with every timer at its time.
    pub(crate) fn pass(&mut self, span: Duration) {
        let end = self.now + span;
        self.settle();
        while let Some(due) = self.next().filter(|due| *due <= end) {
            self.now = self.now.max(due);
            self.settle();
        }
        self.now = end;
    }

    /// Carries `data` from one end of a connection to the other, shuts that direction down, and gives what arrived.
    /// Time passes as needed, at most `limit` of it.
    pub(crate) fn carry(
        &mut self,
        ids: [ConnectionId; 2],
        from: usize,
        data: &[u8],
        limit: Duration,
    ) -> Vec<u8> {
        let end = self.now + limit;
        let (mut sent, mut arrived, mut shut) = (0, Vec::new(), false);
        let mut out = [0; 300];
        loop {
            if sent < data.len() {
                match self.stacks[from].tcp_send(self.now, ids[from], &data[sent..], &mut ()) {
                    Ok(n) => sent += n,
                    Err(TcpError::WouldBlock | TcpError::NoRoom) => {}
                    Err(error) => panic!("sending: {error}"),
                }
            } else if !shut {
                self.stacks[from]
                    .tcp_shutdown(self.now, ids[from], &mut ())
                    .expect("open");
                shut = true;
            }
            self.settle();
            let before = arrived.len();
            loop {
                match self.stacks[1 - from].tcp_recv(self.now, ids[1 - from], &mut out, &mut ()) {
                    Ok(0) => return arrived,
                    Ok(n) => arrived.extend(&out[..n]),
                    Err(TcpError::WouldBlock) => break,
                    Err(error) => panic!("receiving: {error}"),
                }
            }
            self.settle();
            if arrived.len() == before {
                let due = self.next().unwrap_or(end).max(self.now);
                assert!(
                    due < end,
                    "{} of {} bytes arrived in time",
                    arrived.len(),
                    data.len()
                );
                self.now = due;
            }
        }
    }

    /// Nothing is left anywhere.
    pub(crate) fn assert_idle(&self) {
        for stack in &self.stacks {
            assert_eq!(stack.next_deadline(self.now), None, "a timer is left");
            assert_eq!(
                (stack.buffer().live(), stack.buffer().used()),
                (0, 0),
                "packets are left"
            );
        }
    }
}
