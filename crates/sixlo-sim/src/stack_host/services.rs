//! The services that a node offers to whoever can reach it.

use sixlo::stack::Stack;
use sixlo::time::{Duration, Instant};
use sixlo::trace::Sink;
use sixlo_services::{Conversation, Memory, Node, Sample, Service, Services};

/// Connections that are served at once.
pub(super) const CONVERSATIONS: usize = 6;

/// Bytes for the head of each request.
const HEAD: usize = 1_024;

/// The largest datagram that is answered, in bytes.
const SCRATCH: usize = 1_280;

/// Samples of the counters that are kept, one a second.
const SAMPLES: usize = 60;

/// The services that run over UDP, and those that run over TCP.
pub(super) fn udp_and_tcp() -> (usize, usize) {
    let udp = Service::ALL.iter().filter(|service| service.is_udp()).count();
    (udp, Service::ALL.len() - udp)
}

/// The memory of the services of a node.
pub(super) struct Room {
    conversations: Vec<Conversation>,
    heads: Vec<u8>,
    scratch: Vec<u8>,
    samples: Vec<Sample>,
}

impl Room {
    pub(super) fn new() -> Self {
        Self {
            conversations: (0..CONVERSATIONS).map(|_| Conversation::EMPTY).collect(),
            heads: vec![0; CONVERSATIONS * HEAD],
            scratch: vec![0; SCRATCH],
            samples: vec![Sample::EMPTY; SAMPLES],
        }
    }

    fn lend(&mut self) -> (Memory<'_>, Node<'_>) {
        let memory = Memory {
            conversations: &mut self.conversations,
            heads: &mut self.heads,
            scratch: &mut self.scratch,
        };
        (memory, Node::new(Node::PAGES, &mut self.samples))
    }
}

/// The services of a node, and when they want to run.
pub(super) struct Offer<'m> {
    services: Services<'m, Node<'m>>,
    deadline: Option<Instant>,
}

impl<'m> Offer<'m> {
    /// Opens all services on their own ports, as far as the applications of the scenario leave them.
    pub(super) fn open(stack: &mut Stack<'_>, room: &'m mut Room) -> Self {
        let (memory, site) = room.lend();
        Self::with(stack, memory, site)
    }

    fn with(stack: &mut Stack<'_>, memory: Memory<'m>, site: Node<'m>) -> Self {
        let mut services = Services::new(memory, site);
        for service in Service::ALL {
            // One whose port is taken by an application of the scenario is not offered.
            let _ = services.open(stack, service, service.port());
        }
        Self {
            services,
            deadline: Some(Instant::ZERO),
        }
    }

    /// Ends what is under way; what is given back opens all again. The series of samples goes on after a reboot.
    pub(super) fn close(
        mut self,
        stack: &mut Stack<'_>,
        now: Instant,
        sink: &mut impl Sink,
    ) -> (Memory<'m>, Node<'m>) {
        let site = std::mem::replace(self.services.site(), Node::new(Node::PAGES, &mut []));
        (self.services.close(stack, now, sink), site)
    }

    /// Opens all again after a reboot.
    pub(super) fn open_again(stack: &mut Stack<'_>, (memory, site): (Memory<'m>, Node<'m>)) -> Self {
        Self::with(stack, memory, site)
    }

    /// Does what can be done now.
    pub(super) fn turn(&mut self, stack: &mut Stack<'_>, now: Instant, sink: &mut impl Sink) {
        let wanted = self.services.turn(stack, now, sink);
        // Not at once again: they have done what can be done now.
        self.deadline = wanted.map(|at| at.max(now + Duration::from_micros(1)));
    }

    /// When they want to run though nothing has come in.
    pub(super) const fn deadline(&self) -> Option<Instant> {
        self.deadline
    }
}
