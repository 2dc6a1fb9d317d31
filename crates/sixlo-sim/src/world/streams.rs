//! Bulk transfers: when they begin, and the account of each.

use sixlo::trace::Told;

use super::driver::tap;
use super::{Event, World};
use crate::host::Host;
use crate::ledger::{Imbalance, Ledger};
use crate::observer::{AppEvent, Observer};
use crate::queue::Class;
use crate::stream::{News, Stream, StreamResult, Window};
use crate::time::Time;

/// The account of a transfer.
#[derive(Debug)]
pub(super) struct Account {
    result: StreamResult,
    /// The round-trip time now, since when, and its integral over time in ns times ns, with that time.
    rtt: Option<(Time, Time)>,
    rtt_sum: (u128, u128),
    over: bool,
}

impl Account {
    pub(super) fn new(stream: &Stream) -> Self {
        Self {
            result: StreamResult {
                from: stream.from,
                to: stream.to,
                hops: stream.hops,
                start: stream.start,
                opened: None,
                received: None,
                bytes: 0,
                complete: false,
                failure: None,
                segments: Default::default(),
                windows: Vec::new(),
                rtt_mean: None,
            },
            rtt: None,
            rtt_sum: (0, 0),
            over: false,
        }
    }

    /// The round-trip time is another one from now on.
    fn note_rtt(&mut self, now: Time, rtt: Option<Time>) {
        if let Some((value, since)) = self.rtt {
            let time = u128::from(now.since(since).as_ns());
            self.rtt_sum.0 += u128::from(value.as_ns()) * time;
            self.rtt_sum.1 += time;
        }
        self.rtt = rtt.map(|rtt| (rtt, now));
    }

    /// Congestion control of the sender was told something.
    pub(super) fn note_window(&mut self, node: u16, window: Window) {
        let windows = &mut self.result.windows;
        let is_new = windows.last().is_none_or(|last| last.bytes != window.bytes);
        // Both ends may use ports that look like a sender's.
        if node == self.result.from && (is_new || window.told != Told::Acked) {
            windows.push(window);
        }
    }

    /// The account is closed at the end of the run.
    pub(super) fn into_result(mut self, now: Time, number: u16, ledger: &Ledger) -> StreamResult {
        self.note_rtt(now, None);
        let (sum, time) = self.rtt_sum;
        self.result.rtt_mean = (time > 0).then(|| Time::ns((sum / time.max(1)) as u64));
        self.result.segments = ledger.segments(number);
        self.result
    }
}

impl<H: Host, O: Observer> World<'_, H, O> {
    /// A transfer begins.
    pub(super) fn open_stream(&mut self, number: u16) {
        let stream = &self.streams[usize::from(number)];
        let index = stream.from;
        let node = &mut self.nodes[usize::from(index)];
        let opened = if node.up {
            let mut tap = tap!(self, node, index);
            let opened = node
                .host
                .open_stream(self.now.to_stack(), number, stream, &mut tap);
            let cost = self.costs.messages(tap.messages);
            self.compute(index, cost);
            opened
        } else {
            Err("the node is off")
        };
        if let Err(why) = opened {
            self.tell_stream(number, News::Failed(why));
        }
        self.service(index);
    }

    /// The applications of a node hand over and take what can be. True if there was anything.
    pub(super) fn pump(&mut self, index: u16) {
        let mut news = std::mem::take(&mut self.news);
        let node = &mut self.nodes[usize::from(index)];
        let mut tap = tap!(self, node, index);
        node.host.pump(self.now.to_stack(), &mut tap, &mut news);
        let cost = self.costs.messages(tap.messages);
        self.compute(index, cost);
        for (stream, what) in news.drain(..) {
            if what == News::Wrong && !self.faults.corrupt() {
                self.ledger.imbalance(Imbalance::WrongPayload { node: index });
            }
            self.tell_stream(stream, what);
        }
        self.news = news;
    }

    fn tell_stream(&mut self, number: u16, news: News) {
        let now = self.now;
        let Some(account) = self.accounts.get_mut(usize::from(number)) else {
            return;
        };
        let result = &mut account.result;
        match news {
            News::Opened => result.opened = Some(now),
            News::Received(bytes) => {
                result.bytes += bytes as u64;
                let first = result.received.map_or(now, |(first, _)| first);
                result.received = Some((first, now));
                if O::ON {
                    let bytes = bytes as u32;
                    let event = AppEvent::Received {
                        stream: number,
                        bytes,
                    };
                    self.observer.app(now, result.to, &event);
                }
            }
            News::Wrong => self.undetected += 1,
            News::RoundTrip(rtt) => account.note_rtt(now, rtt),
            News::Closed | News::Failed(_) => {
                if let News::Failed(why) = news {
                    result.failure.get_or_insert(why);
                }
                let wanted = self.streams[usize::from(number)].bytes;
                result.complete = news == News::Closed && wanted == Some(result.bytes);
                account.note_rtt(now, None);
                if !std::mem::replace(&mut account.over, true) {
                    self.active_streams -= 1;
                    self.sources_done();
                }
            }
        }
    }

    /// Puts the beginnings of all transfers into the queue.
    pub(super) fn schedule_streams(&mut self) {
        for (stream, number) in self.streams.iter().zip(0u16..) {
            self.queue
                .push(stream.start, Class::Rest, Event::Stream { number });
        }
    }
}
