//! The queue of events: in the order of time, then of class, then of insertion.
//!
//! Events are never removed: what holds no longer when its time comes is ignored by whoever takes it.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::time::Time;

#[cfg(test)]
mod tests;

/// What comes first among events of the same nanosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
pub enum Class {
    /// A transmission ends: what ends now does not overlap what starts now.
    End = 0,
    /// Everything else.
    Rest = 1,
}

const SEQUENCE_BITS: u32 = 62;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    time: Time,
    /// The class above, the number of the insertion below.
    order: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry<E> {
    key: Key,
    event: E,
}

impl<E> PartialEq for Entry<E> {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl<E> Eq for Entry<E> {}

impl<E> PartialOrd for Entry<E> {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl<E> Ord for Entry<E> {
    #[inline]
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// Events that are to come. `E` should be small: it moves through a heap.
#[derive(Debug)]
pub struct Queue<E> {
    heap: BinaryHeap<Reverse<Entry<E>>>,
    inserted: u64,
}

impl<E: Copy> Queue<E> {
    /// An empty queue.
    pub const fn new() -> Self {
        Self {
            heap: BinaryHeap::new(),
            inserted: 0,
        }
    }

    /// `event` happens at `time`, after all of the same time and class that were put in before.
    #[inline]
    pub fn push(&mut self, time: Time, class: Class, event: E) {
        let order = (class as u64) << SEQUENCE_BITS | self.inserted;
        self.inserted += 1;
        let key = Key { time, order };
        self.heap.push(Reverse(Entry { key, event }));
    }

    /// The next event and its time.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        self.heap
            .pop()
            .map(|Reverse(entry)| (entry.key.time, entry.event))
    }

    /// The time of the next event.
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse(entry)| entry.key.time)
    }

    /// How many events wait.
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether none waits.
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// How many events were put in since the start.
    pub const fn inserted(&self) -> u64 {
        self.inserted
    }
}

impl<E: Copy> Default for Queue<E> {
    fn default() -> Self {
        Self::new()
    }
}
