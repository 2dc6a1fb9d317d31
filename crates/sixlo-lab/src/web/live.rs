//! The page of a mesh that runs: what happens goes out to all who look, and what they ask for goes in.
//!
//! The mesh hands over a batch twenty times a second and never waits: if nobody takes it, it is dropped, and the next one tells of all
//! nodes. The same holds between here and each who looks. So whoever is slow misses frames, is told how many, and holds nobody up.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use sixlo_sim::time::Time;
use sixlo_sim::world::Plan;

use super::http::{Answer, Event, Request, Site};
use super::messages::{Batch, ClockState, Detail, Mesh, NodeRow, Totals};
use super::replay::mesh_of;
use super::site::{asset, json, not_found};
use super::tap::Tap;
use crate::live::clock::Speed;
use crate::live::command::{Command, Handle};

/// Between two batches.
const EVERY: Duration = Duration::from_millis(50);
/// Batches between the mesh and here, and between here and each who looks.
const WAITING_MAX: usize = 16;
/// So many may look at the same time.
const LOOKING_MAX: usize = 16;
/// A connection on which nothing happens is told so after this, and a node that does not answer is given up.
const PATIENCE: Duration = Duration::from_secs(3);
/// So many commands at once, and so many a second in the long run.
const COMMANDS_AT_ONCE: f64 = 40.0;
const COMMANDS_PER_S: f64 = 20.0;

/// The end of the page in the mesh.
#[derive(Debug)]
pub struct Feed {
    tap: Tap,
    out: SyncSender<Batch>,
    next: Instant,
    told: Option<ClockState>,
    /// The last batch found no room, and so many frames were not told since one did.
    behind: Option<u64>,
}

impl Feed {
    /// What watches the mesh.
    pub const fn tap(&mut self) -> &mut Tap {
        &mut self.tap
    }

    /// Hands over what has happened, if it is time, or if the clock was changed.
    pub fn turn(&mut self, now: Instant, world: Time, clock: ClockState) {
        let is_news = self.told != Some(clock);
        if now < self.next && !is_news {
            return;
        }
        self.next = now + EVERY;
        let batch = match self.behind {
            Some(untold) => {
                let mut whole = self.tap.whole(world);
                whole.skipped += untold;
                Some(whole)
            }
            None => self.tap.batch(world),
        };
        let Some(mut batch) = batch.or_else(|| is_news.then(|| self.tap.nothing(world))) else {
            return;
        };
        batch.clock = Some(clock);
        self.behind = match self.out.try_send(batch) {
            Err(TrySendError::Full(batch)) => Some(batch.frame_count()),
            Ok(()) | Err(TrySendError::Disconnected(_)) => None,
        };
        self.told = self.behind.is_none().then_some(clock);
    }

    /// When it wants its next turn.
    pub const fn next(&self) -> Instant {
        self.next
    }
}

/// The server's side of a mesh that runs.
pub struct Live {
    mesh: Mesh,
    handle: Handle,
    present: Mutex<Present>,
    commands: Mutex<Bucket>,
}

/// What everyone who comes is to see, and those who are there.
#[derive(Default)]
struct Present {
    until: u64,
    rows: Vec<NodeRow>,
    totals: Totals,
    clock: Option<ClockState>,
    /// Links whose errors were changed: by sender and receiver.
    errors: BTreeMap<(u16, u16), f64>,
    looking: Vec<Looking>,
}

/// Somebody who looks.
struct Looking {
    out: SyncSender<Arc<str>>,
    /// Frames that they missed, as long as they are behind.
    missed: Option<u64>,
}

impl Live {
    /// The page of a mesh that a handle steers, and its end in the mesh.
    pub fn new(plan: &Plan, title: &str, run: &str, handle: Handle) -> (Arc<Self>, Feed) {
        let (out, batches) = sync_channel(WAITING_MAX);
        let live = Arc::new(Self {
            mesh: mesh_of(plan, "live", title, run),
            handle,
            present: Mutex::default(),
            commands: Mutex::new(Bucket::full(Instant::now())),
        });
        let feed = Feed {
            tap: Tap::new(plan),
            out,
            next: Instant::now(),
            told: None,
            behind: Some(0),
        };
        let telling = Arc::clone(&live);
        // It ends with the mesh, whose end of the channel then is gone. Without the thread nobody is told anything.
        let _ = thread::Builder::new()
            .name("web page".to_owned())
            .spawn(move || telling.tell_all(&batches));
        (live, feed)
    }

    fn present(&self) -> MutexGuard<'_, Present> {
        self.present.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tell_all(&self, batches: &Receiver<Batch>) {
        while let Ok(batch) = batches.recv() {
            self.present().tell(batch);
        }
        self.present().looking.clear();
    }

    /// Lets somebody look, if there is room.
    fn look(&self) -> Option<Answer> {
        let mut present = self.present();
        present.tell_lines(None);
        if present.looking.len() >= LOOKING_MAX {
            return None;
        }
        let (out, lines) = sync_channel(WAITING_MAX);
        // The channel is empty: there is room.
        let _ = out.try_send(present.whole(0));
        present.looking.push(Looking { out, missed: None });
        Some(Answer::Events(Box::new(Lines(lines))))
    }

    /// A node in all detail, as the mesh tells it.
    fn node(&self, number: u16) -> Answer {
        let (answer, detail) = sync_channel::<Option<Box<Detail>>>(1);
        if !self.handle.send(Command::Detail { node: number, answer }) {
            return Answer::text(503, "the mesh has ended");
        }
        match detail.recv_timeout(PATIENCE) {
            Ok(Some(detail)) => json(&*detail),
            Ok(None) => not_found(),
            Err(_) => Answer::text(503, "the mesh does not answer"),
        }
    }

    /// Does what the page asks for.
    fn command(&self, body: &[u8]) -> Answer {
        let now = Instant::now();
        let allowed = self
            .commands
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .take(now);
        if !allowed {
            return Answer::text(429, "too many commands");
        }
        let asked: Asked = match serde_json::from_slice(body) {
            Ok(asked) => asked,
            Err(error) => return Answer::text(400, &format!("this is no command: {error}")),
        };
        let command = match asked.understood(self.mesh.nodes.len()) {
            Ok(command) => command,
            Err(wrong) => return Answer::text(400, wrong),
        };
        let errors = match command {
            Command::LinkErrors {
                from,
                to,
                probability,
            } => Some((from, to, probability)),
            _ => None,
        };
        if !self.handle.send(command) {
            return Answer::text(503, "the mesh has ended");
        }
        if let Some((from, to, probability)) = errors {
            let mut present = self.present();
            present.errors.insert((from, to), probability);
            let line = present.line(&Batch {
                until: present.until,
                totals: present.totals,
                errors: vec![(from, to, probability)],
                ..Batch::default()
            });
            present.tell_lines(Some((line, 0)));
        }
        Answer::Whole {
            status: 204,
            media: "text/plain",
            body: Vec::new(),
        }
    }
}

impl Present {
    /// Takes what is new, and tells those who look.
    fn tell(&mut self, batch: Batch) {
        if batch.whole {
            self.rows.clone_from(&batch.nodes);
        } else {
            for row in &batch.nodes {
                if let Some(known) = self.rows.get_mut(usize::from(row.node).wrapping_sub(1)) {
                    *known = *row;
                }
            }
        }
        self.until = batch.until;
        self.totals = batch.totals;
        self.clock = batch.clock.or(self.clock);
        if self.looking.is_empty() {
            return;
        }
        let frames = batch.frame_count();
        let line = self.line(&batch);
        self.tell_lines(Some((line, frames)));
    }

    fn line(&self, batch: &Batch) -> Arc<str> {
        serde_json::to_string(batch).unwrap_or_default().into()
    }

    /// All that is known, with the number of frames that somebody missed.
    fn whole(&self, skipped: u64) -> Arc<str> {
        self.line(&Batch {
            until: self.until,
            whole: true,
            nodes: self.rows.clone(),
            totals: self.totals,
            clock: self.clock,
            errors: self
                .errors
                .iter()
                .map(|(&(from, to), &errors)| (from, to, errors))
                .collect(),
            skipped,
            ..Batch::default()
        })
    }

    /// Tells everyone a line, in which there are so many frames, and forgets who is gone. Who was behind is told everything instead.
    fn tell_lines(&mut self, line: Option<(Arc<str>, u64)>) {
        let mut looking = std::mem::take(&mut self.looking);
        looking.retain_mut(|one| {
            let (sent, frames) = match (&line, one.missed) {
                (None, None) => (one.out.try_send(Arc::from("{}")), 0),
                (line, Some(missed)) => {
                    let frames = line.as_ref().map_or(0, |line| line.1);
                    (one.out.try_send(self.whole(missed + frames)), frames)
                }
                (Some((line, frames)), None) => (one.out.try_send(Arc::clone(line)), *frames),
            };
            match sent {
                Ok(()) => one.missed = None,
                Err(TrySendError::Full(_)) => one.missed = Some(one.missed.unwrap_or(0) + frames),
                Err(TrySendError::Disconnected(_)) => return false,
            }
            true
        });
        self.looking = looking;
    }
}

impl Site for Live {
    fn answer(&self, request: &Request) -> Answer {
        match (request.is_post, request.path.as_str()) {
            (true, "/command") => self.command(&request.body),
            (true, _) => not_found(),
            (false, "/mesh") => json(&self.mesh),
            (false, "/events") => self
                .look()
                .unwrap_or_else(|| Answer::text(503, "too many look already")),
            (false, "/node") => {
                let number = request.number("n").and_then(|number| u16::try_from(number).ok());
                number.map_or_else(not_found, |number| self.node(number))
            }
            (false, path) => asset(path).unwrap_or_else(not_found),
        }
    }
}

/// The lines for one who looks.
struct Lines(Receiver<Arc<str>>);

impl Iterator for Lines {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        match self.0.recv_timeout(PATIENCE) {
            Ok(line) => Some(Event::Line(line)),
            Err(RecvTimeoutError::Timeout) => Some(Event::Nothing),
            Err(RecvTimeoutError::Disconnected) => None,
        }
    }
}

/// What the page asks for, as it stands in the body of a request.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
enum Asked {
    /// `{"pause": true}`
    Pause(bool),
    /// `{"speed": "0.5"}`, or `"max"`
    Speed(String),
    /// `{"switch": {"node": 5, "on": false}}`
    Switch { node: u16, on: bool },
    /// `{"link": {"from": 1, "to": 5, "errors": 0.3}}`
    Link { from: u16, to: u16, errors: f64 },
}

impl Asked {
    /// The command for a mesh of so many nodes, or what is wrong.
    fn understood(self, nodes: usize) -> Result<Command, &'static str> {
        let known = |node: u16| (1..=nodes).contains(&usize::from(node));
        match self {
            Self::Pause(paused) => Ok(Command::Pause(paused)),
            Self::Speed(text) => match Speed::parse(&text) {
                Ok(speed) => Ok(Command::Speed(speed)),
                Err(_) => Err("a speed is a multiple of real time from 0.001 to 1000, or max"),
            },
            Self::Switch { node, on } if known(node) => Ok(Command::Switch { node, on }),
            Self::Link { from, to, errors } if known(from) && known(to) && from != to => {
                if !(0.0..=1.0).contains(&errors) {
                    return Err("errors are a share from 0 to 1");
                }
                Ok(Command::LinkErrors {
                    from,
                    to,
                    probability: errors,
                })
            }
            Self::Switch { .. } | Self::Link { .. } => Err("there is no such node, or link"),
        }
    }
}

/// Lets so many pass at once, and so many a second.
#[derive(Debug)]
struct Bucket {
    left: f64,
    since: Instant,
}

impl Bucket {
    const fn full(now: Instant) -> Self {
        Self {
            left: COMMANDS_AT_ONCE,
            since: now,
        }
    }

    fn take(&mut self, now: Instant) -> bool {
        let passed = now.saturating_duration_since(self.since).as_secs_f64();
        self.left = (self.left + passed * COMMANDS_PER_S).min(COMMANDS_AT_ONCE);
        self.since = now;
        let may = self.left >= 1.0;
        if may {
            self.left -= 1.0;
        }
        may
    }
}

#[cfg(test)]
mod tests;
