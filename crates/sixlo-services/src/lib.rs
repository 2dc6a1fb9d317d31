//! Services that a node offers for people to try: echo (RFC 862), discard (RFC 863) and a source of characters (RFC 864), each
//! over UDP and TCP, and an HTTP/1.1 server (RFC 9110, RFC 9112).
//!
//! They are state machines without input and output of their own, like the stack that they run over: the driver calls
//! [`Services::turn`] after each `poll` of the stack, with the present time, and once more when the instant comes that it gave. So
//! they run wherever the stack runs: in firmware, on each node of a simulation, on Linux.
//!
//! ```
//! use sixlo::stack::{Config, Fixed, Stack};
//! use sixlo::time::Instant;
//! use sixlo_services::{Node, Room, Service, Services};
//!
//! // Packet buffer, packets, reassemblies, sockets, routes, two kinds of fragments, connections, their receive memory,
//! // listeners, backlog.
//! let mut memory: Fixed<8192, 32, 2, 2, 4, 0, 0, 3, 3456, 2, 2> = Fixed::new();
//! let mut stack = Stack::new(memory.lend(), &Config::new(42)).unwrap();
//! let mut room: Room<2, 1024> = Room::new();
//! let mut services = Services::new(room.lend(), Node::new(Node::PAGES, &mut []));
//! services.open(&mut stack, Service::UdpEcho, 7).unwrap();
//! services.open(&mut stack, Service::TcpEcho, 7).unwrap();
//! services.open(&mut stack, Service::Http, 80).unwrap();
//!
//! // In the driver's loop:
//! let now = Instant::ZERO;
//! stack.poll(now, &mut ());
//! let services_want = services.turn(&mut stack, now, &mut ());
//! let sleep_until = stack.next_deadline(now).into_iter().chain(services_want).min();
//! assert_eq!(sleep_until, None);
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod datagrams;
pub mod http;
mod line;
mod node;
mod room;
mod services;
mod streams;
mod text;

pub use node::{Node, Page, Sample, pattern};
pub use room::{Conversation, Memory, Room};
pub use services::{Counters, Limits, NotOpened, Service, Services};
