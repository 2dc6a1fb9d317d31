//! Sleeping until a descriptor has something or a deadline comes, and being woken from another thread.

use std::io::{self, Read, Write};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::time::TimeSpec;

/// Sleeps until one of the descriptors can be read, or a time has passed; without one, for as long as it takes. A signal ends it
/// early: whoever waits looks for what it means.
///
/// # Errors
///
/// Those of `ppoll`.
pub fn wait(descriptors: &[BorrowedFd<'_>], timeout: Option<Duration>) -> io::Result<()> {
    let mut fds: Vec<PollFd<'_>> = descriptors
        .iter()
        .map(|&descriptor| PollFd::new(descriptor, PollFlags::POLLIN))
        .collect();
    match ppoll(&mut fds, timeout.map(TimeSpec::from_duration), None) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Wakes a thread that [`wait`]s for the other end.
#[derive(Clone, Debug)]
pub struct Waker(Arc<UnixStream>);

/// The end to wait for.
#[derive(Debug)]
pub struct Woken(UnixStream);

/// Both ends.
///
/// # Errors
///
/// If there are no descriptors left.
pub fn waker() -> io::Result<(Waker, Woken)> {
    let (one, other) = UnixStream::pair()?;
    one.set_nonblocking(true)?;
    other.set_nonblocking(true)?;
    Ok((Waker(Arc::new(one)), Woken(other)))
}

impl Waker {
    /// Ends the present or the next sleep of the thread that waits.
    pub fn wake(&self) {
        // If it is full, the thread will wake anyway; if the other end is gone, nobody sleeps.
        let _ = (&*self.0).write(&[1]);
    }
}

impl Woken {
    /// Takes all that woke the thread, so that it can sleep again.
    pub fn clear(&mut self) {
        let mut bytes = [0; 64];
        while matches!(self.0.read(&mut bytes), Ok(len) if len > 0) {}
    }
}

impl AsFd for Woken {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.0.as_fd()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    #[test]
    fn a_sleep_ends_at_its_time_or_when_woken() {
        let (waker, mut woken) = waker().unwrap();
        let start = Instant::now();
        wait(&[woken.as_fd()], Some(Duration::from_millis(20))).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(20));
        // One stays here: an end whose others are all gone wakes for ever.
        let other = waker.clone();
        let thread = std::thread::spawn(move || {
            for _ in 0..1_000 {
                other.wake();
            }
        });
        wait(&[woken.as_fd()], None).unwrap();
        thread.join().unwrap();
        woken.clear();
        let start = Instant::now();
        wait(&[woken.as_fd()], Some(Duration::from_millis(20))).unwrap();
        assert!(start.elapsed() >= Duration::from_millis(20), "it was cleared");
    }
}
