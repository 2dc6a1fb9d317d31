//! The stack behind the traits of `embedded-io-async` and `embedded-nal-async`, for clients and servers that were written for
//! these and know nothing of sixlo.
//!
//! [`Net`] shares a stack between the task that drives it and those that use it. The driver goes on calling the stack, through
//! [`Net::drive`], which afterwards wakes the tasks that can go on; it sleeps until a frame, the stack's deadline or
//! [`Net::changed`]. Connections are opened by [`TcpConnect::connect`], accepted by [`Listener::accept`], and closed when they are
//! dropped.
//!
//! A task that waits is polled again when what it waits for is there, and not before. All tasks run in one thread, as in
//! embedded executors. What there is no trait for is done through [`Net::drive`], too.
//!
//! ```no_run
//! use core::net::SocketAddr;
//! use embedded_io_async::{Read, Write};
//! use embedded_nal_async::TcpConnect;
//!
//! /// Works over any network.
//! async fn ask<N: TcpConnect>(net: &N, server: SocketAddr, answer: &mut [u8]) -> Result<usize, N::Error> {
//!     let mut connection = net.connect(server).await?;
//!     connection.write_all(b"what time is it?").await?;
//!     connection.flush().await?;
//!     connection.read(answer).await
//! }
//!
//! # use sixlo::{stack::{Config, Fixed, Stack}, time::Instant};
//! # fn clock() -> Instant { Instant::ZERO }
//! # async fn example(memory: &mut Fixed<8192, 32, 2, 2, 4, 0, 0, 3, 3456, 2, 2>, server: SocketAddr) {
//! let stack = Stack::new(memory.lend(), &Config::new(42)).unwrap();
//! // Up to four tasks may wait at once.
//! let net = sixlo_embedded::Net::<_, 4>::new(stack, clock);
//! let mut answer = [0; 40];
//! let len = ask(&net, server, &mut answer).await;
//! # }
//! ```
#![no_std]
#![forbid(unsafe_code)]

mod connection;
mod error;
mod net;

#[allow(unused_imports, reason = "the documentation names it")]
use embedded_nal_async::TcpConnect;

pub use connection::{Connection, Listener};
pub use error::Error;
pub use net::Net;
