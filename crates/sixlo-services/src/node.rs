//! The site that every node can have: pages, bytes of a known pattern, and what the stack has counted, as JSON.

use sixlo::netdev::IfaceId;
use sixlo::stack::{Opt, Stack, Target};
use sixlo::time::{Duration, Instant};
use sixlo::trace::Reason;

use crate::http::{Body, Cursor, Request, Response, Site, Status};
use crate::text::Text;

/// A page that lies in the image.
#[derive(Clone, Copy, Debug)]
pub struct Page {
    /// Its path, with the slash.
    pub path: &'static str,
    /// Its media type.
    pub content_type: &'static str,
    /// Its content.
    pub content: &'static [u8],
}

/// What a node had counted at some time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Sample {
    /// When.
    pub at: Instant,
    /// Frames that came in, over all interfaces.
    pub frames_in: u32,
    /// Frames that went out.
    pub frames_out: u32,
    /// Packets and frames that were dropped, for any reason.
    pub dropped: u32,
    /// Bytes of the packet buffer that were taken.
    pub buffer_used: u32,
}

impl Sample {
    /// Nothing at time zero.
    pub const EMPTY: Self = Self {
        at: Instant::ZERO,
        frames_in: 0,
        frames_out: 0,
        dropped: 0,
        buffer_used: 0,
    };
}

/// The site of a node:
///
/// | path | what it gives |
/// |---|---|
/// | those of its pages | the pages |
/// | `/bytes/N` | N bytes, up to 2^32 - 1: byte n is [`pattern`] of n |
/// | `/counters` | all options and counters of the stack by name, as JSON; drops that are not zero |
/// | `/series` | the last samples of frames, drops and buffer, as JSON, where there is memory for some |
#[derive(Debug)]
pub struct Node<'a> {
    pages: &'static [Page],
    samples: &'a mut [Sample],
    every: Duration,
    /// Samples that were ever taken: the next one has the place of the oldest.
    taken: u32,
    due: Instant,
}

/// Byte `at` of `/bytes/N`: no part of them looks like another one for long.
pub const fn pattern(at: u32) -> u8 {
    (at ^ at >> 8 ^ at >> 16).wrapping_mul(0x9d) as u8
}

const JSON: &str = "application/json";

impl<'a> Node<'a> {
    /// One page, which tells what else there is.
    pub const PAGES: &'static [Page] = &[Page {
        path: "/",
        content_type: "text/html",
        content: include_bytes!("index.html"),
    }];

    /// A site with these pages, that takes a sample each second and keeps as many as there are places.
    pub const fn new(pages: &'static [Page], samples: &'a mut [Sample]) -> Self {
        Self {
            pages,
            samples,
            every: Duration::from_secs(1),
            taken: 0,
            due: Instant::ZERO,
        }
    }

    /// The same with another time between samples.
    pub const fn sampled_every(mut self, every: Duration) -> Self {
        self.every = every;
        self
    }

    /// The number of the oldest sample that is kept.
    fn oldest(&self) -> u32 {
        self.taken.saturating_sub(self.samples.len() as u32)
    }

    /// Writes one step of the samples; false at the end.
    fn series(&self, cursor: &mut Cursor, text: &mut Text<'_>) -> bool {
        let number = match cursor.at {
            0 => self.oldest(),
            at => at.max(self.oldest() + 1) - 1,
        };
        let kept = (number as usize).checked_rem(self.samples.len());
        let sample = kept
            .and_then(|place| self.samples.get(place))
            .filter(|_| number < self.taken);
        if cursor.at == 0 {
            text.text("[");
        }
        let Some(sample) = sample else {
            text.text("]\n");
            return false;
        };
        text.text(if cursor.at == 0 { "\n" } else { ",\n" });
        text.text("{\"at_us\":").number(sample.at.as_micros());
        for (name, value) in [
            (",\"frames_in\":", sample.frames_in),
            (",\"frames_out\":", sample.frames_out),
            (",\"dropped\":", sample.dropped),
            (",\"buffer_used\":", sample.buffer_used),
        ] {
            text.text(name).number(value.into());
        }
        text.text("}");
        cursor.at = number + 2;
        true
    }
}

/// Bodies that are made: [`Cursor::what`], with [`BEGUN`] where the object that is being written has a member.
const BYTES: u32 = 0;
const COUNTERS: u32 = 1;
const SERIES: u32 = 2;
const BEGUN: u32 = 0x80;
/// [`Cursor::at`] behind the end.
const END: u32 = u32::MAX;

impl Site for Node<'_> {
    // A sample with numbers of any length.
    const PIECE_LEN: usize = 160;

    fn answer(&mut self, request: &Request<'_>, _stack: &Stack<'_>, _now: Instant) -> Response {
        if let Some(page) = self.pages.iter().find(|page| page.path == request.path) {
            return Response {
                status: Status::OK,
                content_type: page.content_type,
                body: Body::Lent(page.content),
            };
        }
        let (content_type, what, len) = match request.path {
            "/counters" => (JSON, COUNTERS, None),
            "/series" => (JSON, SERIES, None),
            path => match path.strip_prefix("/bytes/").map(str::parse) {
                Some(Ok(len)) => ("application/octet-stream", BYTES, Some(len)),
                _ => return Response::of(Status::NOT_FOUND),
            },
        };
        Response {
            status: Status::OK,
            content_type,
            body: Body::Made(Cursor { what, at: 0 }, len),
        }
    }

    fn make(&mut self, cursor: &mut Cursor, stack: &Stack<'_>, now: Instant, out: &mut [u8]) -> usize {
        if cursor.what == BYTES {
            for byte in out.iter_mut() {
                *byte = pattern(cursor.at);
                cursor.at = cursor.at.wrapping_add(1);
            }
            return out.len();
        }
        let mut len = 0;
        while let Some(room) = out.get_mut(len..).filter(|room| room.len() >= Self::PIECE_LEN) {
            if cursor.at == END {
                break;
            }
            let mut text = Text::new(room);
            let more = match cursor.what & !BEGUN {
                COUNTERS => counters(cursor, stack, now, &mut text),
                _ => self.series(cursor, &mut text),
            };
            if !more {
                cursor.at = END;
            }
            len += text.finish().unwrap_or(0);
        }
        len
    }

    fn tick(&mut self, stack: &Stack<'_>, now: Instant) -> Option<Instant> {
        let place = (self.taken as usize).checked_rem(self.samples.len())?;
        if now < self.due {
            return Some(self.due);
        }
        let sample = self.samples.get_mut(place)?;
        *sample = take(stack, now);
        self.taken = self.taken.wrapping_add(1);
        self.due = now + self.every;
        Some(self.due)
    }
}

/// A sample of what a stack has counted.
fn take(stack: &Stack<'_>, now: Instant) -> Sample {
    let ifaces = (0..=u8::MAX).map_while(|iface| stack.counters(IfaceId(iface)));
    let frames = ifaces.fold((0u32, 0u32), |(frames_in, frames_out), it| {
        (
            frames_in.wrapping_add(it.frames_in),
            frames_out.wrapping_add(it.frames_out),
        )
    });
    let drops = Reason::ALL.iter().map(|reason| stack.drops(*reason));
    Sample {
        at: now,
        frames_in: frames.0,
        frames_out: frames.1,
        dropped: drops.fold(0, u32::wrapping_add),
        buffer_used: stack.buffer().used() as u32,
    }
}

/// Writes one step of the counters; false at the end. The steps: a head; an option of the stack each; a head; a reason to drop
/// each; a head; and for each interface a head and its options.
fn counters(cursor: &mut Cursor, stack: &Stack<'_>, now: Instant, text: &mut Text<'_>) -> bool {
    let (options, reasons) = (Opt::ALL.len(), Reason::ALL.len());
    let mut step = cursor.at as usize;
    cursor.at += 1;
    if step == 0 {
        text.text("{\"time_us\":").number(now.as_micros());
        open(cursor, text, ",\n\"stack\":{");
        return true;
    }
    step -= 1;
    if let Some(option) = Opt::ALL.get(step) {
        member(cursor, text, *option, stack.get(Target::Stack, *option).ok());
        return true;
    }
    step -= options;
    if step == 0 {
        open(cursor, text, "},\n\"drops\":{");
        return true;
    }
    step -= 1;
    if let Some(reason) = Reason::ALL.get(step) {
        let drops = u64::from(stack.drops(*reason));
        member(
            cursor,
            text,
            Opt::Drops(*reason),
            Some(drops).filter(|drops| *drops > 0),
        );
        return true;
    }
    step -= reasons;
    let (iface, step) = (step / (options + 1), step % (options + 1));
    let target = u8::try_from(iface).map(|iface| Target::Iface(IfaceId(iface)));
    let there = target.ok().filter(|target| stack.get(*target, Opt::Pan).is_ok());
    let Some(target) = there else {
        text.text(if iface == 0 {
            "},\n\"interfaces\":[]}\n"
        } else {
            "}]}\n"
        });
        return false;
    };
    match step.checked_sub(1).and_then(|at| Opt::ALL.get(at)) {
        Some(option) => member(cursor, text, *option, stack.get(target, *option).ok()),
        None => open(
            cursor,
            text,
            if iface == 0 {
                "},\n\"interfaces\":[\n{"
            } else {
                "},\n{"
            },
        ),
    }
    true
}

/// Writes what begins an object.
fn open(cursor: &mut Cursor, text: &mut Text<'_>, head: &str) {
    cursor.what &= !BEGUN;
    text.text(head);
}

/// Writes a member of an object, if it has a value.
fn member(cursor: &mut Cursor, text: &mut Text<'_>, option: Opt, value: Option<u64>) {
    if let Some(value) = value {
        text.text(if cursor.what & BEGUN == 0 { "\"" } else { ",\"" });
        text.text(option.name()).text("\":").number(value);
        cursor.what |= BEGUN;
    }
}
