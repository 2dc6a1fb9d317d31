//! Lets the world go on as the clock does, and carries packets between it and its ports.

use std::io;
use std::os::fd::AsFd;
use std::sync::mpsc::{Receiver, TryRecvError};
use std::time::{Duration, Instant};

use sixlo::trace::Reason;
use sixlo_host::driver::Device;
use sixlo_host::wait::{Woken, wait};
use sixlo_sim::host::Host;
use sixlo_sim::stack_host::StackHost;
use sixlo_sim::time::Time;
use sixlo_sim::world::World;

use super::clock::{Clock, Speed};
use super::command::{Command, NodeState, Snapshot};
use super::lateness::Lateness;
use super::watch::Watch;
use crate::web::messages::ClockState;

/// Packets that one turn takes from a port, before the world goes on.
const PACKETS_MAX: usize = 16;

/// Events that happen in one go at most, so that ports and commands get their turn.
const EVENTS_MAX: usize = 512;

/// Simulated time that passes in one go at most where the clock does not say how much.
const SLICE: Time = Time::ms(100);

/// A world that falls behind by more than this goes on from where it is: it does not try to catch up.
const BEHIND_MAX: Duration = Duration::from_secs(1);

/// The largest packet that a port brings.
const PACKET_LEN_MAX: usize = 65_535;

/// What joins the mesh to the outside.
#[derive(Default)]
pub struct Ports {
    /// The other end of the border router's link.
    pub outside: Option<Box<dyn Device>>,
}

/// What came of a run.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// Packets from outside.
    pub packets_in: u64,
    /// Packets to outside.
    pub packets_out: u64,
    /// Packets from outside that were lost because the border router had no place for them, or was off.
    pub packets_lost: u64,
    /// Packets to outside that the operating system did not take.
    pub packets_refused: u64,
    /// How late events happened.
    pub lateness: Lateness,
    /// By how much the clock was set back, because the machine did not keep up.
    pub slipped: Duration,
}

/// The engine.
pub struct Engine<'w, 'p, 'm> {
    world: &'w mut World<'p, StackHost<'m>, Watch>,
    clock: Clock,
    ports: Ports,
    commands: Receiver<Command>,
    woken: Woken,
    tally: Tally,
    nodes: u16,
    buffer: Vec<u8>,
}

impl<'w, 'p, 'm> Engine<'w, 'p, 'm> {
    /// An engine over a world of so many nodes.
    pub fn new(
        world: &'w mut World<'p, StackHost<'m>, Watch>,
        nodes: u16,
        clock: Clock,
        ports: Ports,
        commands: (Receiver<Command>, Woken),
    ) -> Self {
        if ports.outside.is_some() {
            world.connect_outside();
        }
        Self {
            world,
            clock,
            ports,
            commands: commands.0,
            woken: commands.1,
            tally: Tally::default(),
            nodes,
            buffer: vec![0; PACKET_LEN_MAX],
        }
    }

    /// Runs until a command says stop, nobody is left who could, or `until` has come. `progress` is called every `tick`.
    ///
    /// # Errors
    ///
    /// If a port breaks.
    pub fn run(
        &mut self,
        until: Option<Instant>,
        tick: Duration,
        mut progress: impl FnMut(Time, &Watch, &Tally),
    ) -> io::Result<()> {
        let mut next_tick = Instant::now() + tick;
        while self.obey() {
            self.advance();
            self.carry_in()?;
            self.carry_out();
            let now = Instant::now();
            let next_page = self.show(now);
            if until.is_some_and(|until| now >= until) {
                break;
            }
            if now >= next_tick {
                next_tick = now + tick;
                let time = self.world.now();
                progress(time, self.world.observer(), &self.tally);
            }
            self.sleep([until, Some(next_tick), next_page].into_iter().flatten().min())?;
        }
        self.tally.slipped = self.clock.slipped();
        Ok(())
    }

    /// Shows the page what is new, and says when it wants to know more.
    fn show(&mut self, now: Instant) -> Option<Instant> {
        let clock = ClockState {
            paused: self.clock.is_paused(),
            speed: match self.clock.speed() {
                Speed::Times(times) => Some(times),
                Speed::Unlimited => None,
            },
        };
        let world = self.world.now();
        let page = self.world.observer().page()?;
        page.turn(now, world, clock);
        // Where time stands, only a command brings news.
        (!clock.paused).then(|| page.next())
    }

    /// What came of it so far.
    pub const fn tally(&self) -> &Tally {
        &self.tally
    }

    /// Lets the world go on to the present, or as far as it comes in one go.
    fn advance(&mut self) {
        let now = Instant::now();
        let until = self.clock.at(now).unwrap_or(self.world.now() + SLICE);
        let (clock, lateness) = (self.clock, &mut self.tally.lateness);
        self.world.run_until(until, EVENTS_MAX, |due| {
            if let Some(due) = clock.when(due) {
                lateness.note(Instant::now().saturating_duration_since(due));
            }
        });
        let now = Instant::now();
        self.clock.slip(now, self.world.now(), BEHIND_MAX);
    }

    /// Takes packets from outside.
    fn carry_in(&mut self) -> io::Result<()> {
        if self.clock.is_paused() {
            // Nobody in there would see them: the operating system keeps what it has room for.
            return Ok(());
        }
        let Some(outside) = &mut self.ports.outside else {
            return Ok(());
        };
        for _ in 0..PACKETS_MAX {
            let now = self.world.now().to_stack();
            let Some(len) = outside.receive(now, &mut self.buffer)? else {
                break;
            };
            let packet = self.buffer.get(..len).unwrap_or_default();
            self.tally.packets_in += 1;
            if !self.world.packet_in(packet) {
                self.tally.packets_lost += 1;
            }
            let at = self.world.now();
            self.world.observer().packet(at, true, packet);
        }
        Ok(())
    }

    /// Hands over packets to the outside.
    fn carry_out(&mut self) {
        let Some(outside) = &mut self.ports.outside else {
            return;
        };
        while let Some(packet) = self.world.packet_out() {
            let at = self.world.now();
            match outside.send(at.to_stack(), &packet) {
                Ok(()) => self.tally.packets_out += 1,
                Err(_) => self.tally.packets_refused += 1,
            }
            self.world.observer().packet(at, false, &packet);
        }
    }

    /// Sleeps until something is due, comes in, or is asked.
    fn sleep(&mut self, until: Option<Instant>) -> io::Result<()> {
        let deadline = self.world.next_deadline();
        let due = match (deadline, self.clock.is_paused()) {
            (Some(deadline), false) => match self.clock.when(deadline) {
                Some(due) => Some(due),
                // As fast as the machine can.
                None => return Ok(()),
            },
            _ => None,
        };
        let now = Instant::now();
        let wake = [due, until].into_iter().flatten().min();
        let timeout = wake.map(|at| at.saturating_duration_since(now));
        let mut descriptors = vec![self.woken.as_fd()];
        if !self.clock.is_paused() {
            descriptors.extend(self.ports.outside.as_ref().map(|outside| outside.as_fd()));
        }
        wait(&descriptors, timeout)
    }

    /// Does what was asked. False if the run is to end.
    fn obey(&mut self) -> bool {
        self.woken.clear();
        loop {
            match self.commands.try_recv() {
                Ok(Command::Stop) | Err(TryRecvError::Disconnected) => return false,
                Ok(command) => self.follow(command),
                Err(TryRecvError::Empty) => return true,
            }
        }
    }

    fn follow(&mut self, command: Command) {
        let (now, world) = (Instant::now(), self.world.now());
        match command {
            Command::Pause(paused) => self.clock.pause(now, world, paused),
            Command::Speed(speed) => self.clock.set_speed(now, world, speed),
            Command::Switch { node, on } => {
                if let Some(index) = node.checked_sub(1) {
                    self.world.switch(index, on);
                }
            }
            Command::LinkErrors {
                from,
                to,
                probability,
            } => {
                if let (Some(from), Some(to)) = (from.checked_sub(1), to.checked_sub(1)) {
                    self.world.set_link_errors(from, to, probability);
                }
            }
            Command::Look(answer) => {
                let picture = Box::new(self.look());
                // Who has asked may be gone.
                let _ = answer.try_send(picture);
            }
            Command::Detail { node, answer } => {
                let page = self.world.observer().page();
                let detail = page.and_then(|page| page.tap().detail(node));
                let _ = answer.try_send(detail.map(Box::new));
            }
            Command::Subscribe(out) => self.world.observer().subscribe(out),
            Command::Stop => {}
        }
    }

    /// A picture of the present.
    pub fn look(&mut self) -> Snapshot {
        let nodes = (0..self.nodes).filter_map(|index| {
            let counts = self.world.observer().counts(index);
            let node = self.world.node(index)?;
            Some(NodeState {
                on: node.on,
                counts,
                buffer_bytes: node.host.buffer_used(),
                drops: drops(&node.stack.drops),
            })
        });
        let nodes = nodes.collect();
        let Tally {
            packets_in,
            packets_out,
            packets_lost,
            lateness,
            ..
        } = &self.tally;
        let us = |late: Duration| late.as_micros() as u64;
        Snapshot {
            now: self.world.now(),
            speed: self.clock.speed(),
            paused: self.clock.is_paused(),
            nodes,
            packets: [*packets_in, *packets_out, *packets_lost],
            frames: self.world.observer().frames(),
            lateness_us: [
                us(lateness.quantile(0.5)),
                us(lateness.quantile(0.99)),
                us(lateness.max()),
            ],
        }
    }
}

/// The reasons for which anything was dropped.
fn drops(counts: &[u32]) -> Vec<(&'static str, u32)> {
    let named = Reason::ALL.iter().zip(counts);
    named
        .filter(|(_, count)| **count > 0)
        .map(|(reason, count)| (reason.name(), *count))
        .collect()
}
