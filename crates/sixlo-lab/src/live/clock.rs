//! The clock of a mesh in real time: which simulated time it is, at what speed.

use std::time::{Duration, Instant};

use sixlo_sim::time::Time;

/// How fast simulated time goes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Speed {
    /// So many times as fast as real time, more than 0.
    Times(f64),
    /// As fast as the machine can.
    Unlimited,
}

impl Speed {
    /// Real time.
    pub const REAL: Self = Self::Times(1.0);

    /// The slowest and the fastest multiple of real time.
    pub const TIMES: [f64; 2] = [0.001, 1_000.0];

    /// Reads a multiple of real time like `0.5`, or `max`.
    ///
    /// # Errors
    ///
    /// What would be right.
    pub fn parse(text: &str) -> Result<Self, String> {
        let [slowest, fastest] = Self::TIMES;
        if text == "max" {
            return Ok(Self::Unlimited);
        }
        match text.parse::<f64>() {
            Ok(times) if (slowest..=fastest).contains(&times) => Ok(Self::Times(times)),
            _ => Err(format!("a number from {slowest} to {fastest}, or `max`")),
        }
    }
}

/// The clock. Between two changes of its speed simulated time goes in a straight line.
#[derive(Clone, Copy, Debug)]
pub struct Clock {
    since: Instant,
    then: Time,
    speed: Speed,
    paused: bool,
    slipped: Duration,
}

impl Clock {
    /// A clock that starts at zero now.
    pub const fn new(now: Instant, speed: Speed) -> Self {
        Self {
            since: now,
            then: Time::ZERO,
            speed,
            paused: false,
            slipped: Duration::ZERO,
        }
    }

    /// Which simulated time it is; `None` if as much may pass as the machine can do.
    pub fn at(&self, now: Instant) -> Option<Time> {
        if self.paused {
            return Some(self.then);
        }
        let passed = now.saturating_duration_since(self.since);
        match self.speed {
            Speed::Times(times) => {
                let ns = passed.as_nanos() as f64 * times;
                Some(self.then + Time::ns(ns as u64))
            }
            Speed::Unlimited => None,
        }
    }

    /// When a simulated time comes; `None` if it does not by itself, because the clock stands or is not bound to real time.
    pub fn when(&self, time: Time) -> Option<Instant> {
        let Speed::Times(times) = self.speed else {
            return None;
        };
        let ns = time.since(self.then).as_ns() as f64 / times;
        let span = Duration::try_from_secs_f64(ns / 1e9).ok()?;
        self.since.checked_add(span).filter(|_| !self.paused)
    }

    /// Changes the speed from now on; the world stands at `world`.
    pub fn set_speed(&mut self, now: Instant, world: Time, speed: Speed) {
        self.restart(now, world);
        self.speed = speed;
    }

    /// Lets it stand, or go on.
    pub fn pause(&mut self, now: Instant, world: Time, paused: bool) {
        self.restart(now, world);
        self.paused = paused;
    }

    /// Time goes on from here: as far as the clock has come or, if that is not bound to real time, the world.
    fn restart(&mut self, now: Instant, world: Time) {
        self.then = self.at(now).unwrap_or(world).max(world);
        self.since = now;
    }

    /// The world was left behind by more than `most`, as by a machine that slept: the clock is set back to it.
    pub fn slip(&mut self, now: Instant, world: Time, most: Duration) {
        let behind = self.when(world).map(|due| now.saturating_duration_since(due));
        if let Some(behind) = behind.filter(|behind| *behind > most) {
            self.slipped += behind;
            self.then = world;
            self.since = now;
        }
    }

    /// By how much it was set back altogether.
    pub const fn slipped(&self) -> Duration {
        self.slipped
    }

    /// How fast it goes.
    pub const fn speed(&self) -> Speed {
        self.speed
    }

    /// Whether it stands.
    pub const fn is_paused(&self) -> bool {
        self.paused
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(start: Instant, ms: u64) -> Instant {
        start + Duration::from_millis(ms)
    }

    #[test]
    fn time_goes_as_fast_as_it_is_told_and_stands_while_paused() {
        let start = Instant::now();
        let mut clock = Clock::new(start, Speed::REAL);
        assert_eq!(clock.at(after(start, 10)), Some(Time::ms(10)));
        clock.set_speed(after(start, 10), Time::ms(10), Speed::Times(2.0));
        assert_eq!(clock.at(after(start, 20)), Some(Time::ms(30)));
        assert_eq!(clock.when(Time::ms(30)), Some(after(start, 20)));
        clock.pause(after(start, 20), Time::ms(30), true);
        assert_eq!(clock.at(after(start, 500)), Some(Time::ms(30)));
        assert_eq!(clock.when(Time::ms(31)), None);
        clock.pause(after(start, 500), Time::ms(30), false);
        assert_eq!(clock.at(after(start, 505)), Some(Time::ms(40)));
        clock.set_speed(after(start, 505), Time::ms(40), Speed::Unlimited);
        assert_eq!(clock.at(after(start, 600)), None);
        clock.set_speed(after(start, 600), Time::ms(9_000), Speed::REAL);
        assert_eq!(
            clock.at(after(start, 601)),
            Some(Time::ms(9_001)),
            "from where the world is"
        );
    }

    #[test]
    fn a_clock_that_is_far_ahead_of_its_world_is_set_back() {
        let start = Instant::now();
        let mut clock = Clock::new(start, Speed::REAL);
        let most = Duration::from_secs(1);
        clock.slip(after(start, 1_500), Time::ms(600), most);
        assert_eq!(
            clock.at(after(start, 1_500)),
            Some(Time::ms(1_500)),
            "not by little"
        );
        clock.slip(after(start, 5_000), Time::ms(600), most);
        assert_eq!(clock.at(after(start, 5_010)), Some(Time::ms(610)));
        assert_eq!(clock.slipped(), Duration::from_millis(4_400));
    }

    #[test]
    fn speeds_are_read_or_refused() {
        assert_eq!(Speed::parse("max"), Ok(Speed::Unlimited));
        assert_eq!(Speed::parse("0.5"), Ok(Speed::Times(0.5)));
        for wrong in ["0", "-1", "nan", "inf", "1e9", "", "fast"] {
            assert!(Speed::parse(wrong).is_err(), "{wrong}");
        }
    }
}
