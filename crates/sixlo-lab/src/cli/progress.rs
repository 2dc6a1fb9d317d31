//! Progress of a campaign on standard error: a bar on a terminal, else a line now and then.

use std::io::{self, IsTerminal, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

use crate::campaign::Progress;

/// Between two lines where there is no terminal passes at least this.
const BETWEEN_LINES: Duration = Duration::from_secs(2);

/// Shows how many runs have ended.
#[derive(Debug)]
pub(super) struct Shown {
    bar: Option<ProgressBar>,
    last_line: Mutex<Instant>,
    started: Instant,
    done: AtomicUsize,
    total: AtomicUsize,
}

impl Shown {
    pub(super) fn new() -> Self {
        let bar = io::stderr().is_terminal().then(|| {
            let style =
                ProgressStyle::with_template("{bar:40.cyan/blue} {pos} of {len} runs  {elapsed} {msg}");
            let bar = ProgressBar::new(0);
            bar.enable_steady_tick(Duration::from_millis(200));
            bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
        });
        let now = Instant::now();
        Self {
            bar,
            last_line: Mutex::new(now),
            started: now,
            done: AtomicUsize::new(0),
            total: AtomicUsize::new(0),
        }
    }

    /// Runs that are stored, and all.
    pub(super) fn count(&self) -> (usize, usize) {
        (
            self.done.load(Ordering::Relaxed),
            self.total.load(Ordering::Relaxed),
        )
    }

    /// Takes the bar away; gives the seconds since the start.
    pub(super) fn end(&self) -> f64 {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        self.started.elapsed().as_secs_f64()
    }
}

impl Progress for Shown {
    fn runs(&self, done: usize, total: usize) {
        // Threads may report in another order than they counted.
        self.done.fetch_max(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        let done = self.done.load(Ordering::Relaxed);
        if let Some(bar) = &self.bar {
            bar.set_length(total as u64);
            bar.set_position(done as u64);
            return;
        }
        let Ok(mut last) = self.last_line.lock() else {
            return;
        };
        if last.elapsed() >= BETWEEN_LINES {
            *last = Instant::now();
            let seconds = self.started.elapsed().as_secs();
            // Progress is a courtesy: if nobody can read it, the campaign goes on.
            let _ = writeln!(io::stderr(), "{done} of {total} runs, {seconds} s");
        }
    }
}
