//! The board: QEMU's `mps2-an385`, a Cortex-M3 at 25 MHz with two timers and serial lines.
//!
//! Interrupts stay masked. They wake the processor from WFI all the same, and the main loop looks at what happened, so that
//! nothing is shared with a handler and no event is missed between the look and the sleep.

use cortex_m::interrupt::InterruptNumber;
use cortex_m::peripheral::NVIC;
use cortex_m_semihosting::debug::{self, EXIT_SUCCESS};
use cortex_m_semihosting::hio;
use sixlo::time::{Duration, Instant};

/// Ticks of the timers in a microsecond.
pub const TICKS_PER_MICROSECOND: u32 = 25;

/// The longest sleep: what the timers count, and a margin.
const SLEEP_MAX: Duration = Duration::from_secs(150);

/// A register of a device.
#[derive(Clone, Copy)]
pub(crate) struct Register(usize);

impl Register {
    /// # Safety
    ///
    /// There must be a device register at `address`, and access to it must have no effect on memory.
    pub(crate) const unsafe fn at(address: usize) -> Self {
        Self(address)
    }

    #[inline]
    pub(crate) fn read(self) -> u32 {
        // SAFETY: whoever made this promised a register.
        unsafe { core::ptr::with_exposed_provenance::<u32>(self.0).read_volatile() }
    }

    #[inline]
    pub(crate) fn write(self, value: u32) {
        // SAFETY: whoever made this promised a register.
        unsafe { core::ptr::with_exposed_provenance_mut::<u32>(self.0).write_volatile(value) }
    }
}

/// A timer of the kind "CMSDK APB timer": counts down, and begins again at its reload value.
struct Timer {
    control: Register,
    value: Register,
    reload: Register,
    interrupt: Register,
}

impl Timer {
    const ENABLE: u32 = 1;
    const INTERRUPT: u32 = 1 << 3;

    /// # Safety
    ///
    /// There must be such a timer at `address`.
    const unsafe fn at(address: usize) -> Self {
        // SAFETY: the caller promises the device, which has these registers and does no DMA.
        unsafe {
            Self {
                control: Register::at(address),
                value: Register::at(address + 4),
                reload: Register::at(address + 8),
                interrupt: Register::at(address + 12),
            }
        }
    }
}

/// An interrupt of the board.
#[derive(Clone, Copy)]
pub(crate) enum Irq {
    /// The first serial line received a byte.
    Uart0Receive = 0,
    /// The second timer is at zero.
    Timer1 = 9,
}

// SAFETY: the numbers are the board's, and none is given twice.
unsafe impl InterruptNumber for Irq {
    fn number(self) -> u16 {
        self as u16
    }
}

impl Irq {
    /// Lets the interrupt wake the processor.
    pub(crate) fn enable(self) {
        // SAFETY: interrupts are masked, so no handler runs and no critical section breaks.
        unsafe { NVIC::unmask(self) };
    }
}

/// The ticks since the start, and an alarm.
pub struct Clock {
    ticks: Timer,
    alarm: Timer,
    last: u32,
    now: Instant,
    wake_ups: u32,
}

impl Clock {
    /// Starts the clock, and masks all interrupts for good.
    pub fn start() -> Self {
        cortex_m::interrupt::disable();
        // SAFETY: these are the board's timers.
        let (ticks, alarm) = unsafe { (Timer::at(0x4000_0000), Timer::at(0x4000_1000)) };
        ticks.reload.write(u32::MAX);
        ticks.value.write(u32::MAX);
        ticks.control.write(Timer::ENABLE);
        alarm.reload.write(u32::MAX);
        Irq::Timer1.enable();
        Self {
            ticks,
            alarm,
            last: 0,
            now: Instant::ZERO,
            wake_ups: 0,
        }
    }

    /// Ticks since the start, which begin again at zero after 171 s.
    #[inline]
    pub fn ticks(&self) -> u32 {
        !self.ticks.value.read()
    }

    /// The time since the start. To be called at least every 171 s.
    pub fn now(&mut self) -> Instant {
        let microseconds = self.ticks().wrapping_sub(self.last) / TICKS_PER_MICROSECOND;
        self.last = self.last.wrapping_add(microseconds * TICKS_PER_MICROSECOND);
        self.now += Duration::from_micros(microseconds.into());
        self.now
    }

    /// Sleeps until `at`, or for ever (`None`), or until a device wakes the processor; at most 150 s.
    pub fn sleep_until(&mut self, at: Option<Instant>) {
        let now = self.now();
        let span = at.map_or(SLEEP_MAX, |at| at.since(now).min(SLEEP_MAX));
        // At most 150 s, which fits.
        let ticks = span.as_micros() as u32 * TICKS_PER_MICROSECOND;
        if ticks != 0 {
            self.alarm.value.write(ticks);
            self.alarm.control.write(Timer::ENABLE | Timer::INTERRUPT);
            cortex_m::asm::wfi();
            self.wake_ups += 1;
            self.alarm.control.write(0);
            self.alarm.interrupt.write(1);
            NVIC::unpend(Irq::Timer1);
        }
    }

    /// How often the processor was woken.
    pub fn wake_ups(&self) -> u32 {
        self.wake_ups
    }
}

/// Prints to the terminal of the emulator.
pub fn print(text: &[u8]) {
    if let Ok(mut out) = hio::hstdout() {
        // There is nowhere to say that nothing can be said.
        let _ = out.write_all(text);
    }
}

/// Prints a number.
pub fn print_number(number: u32) {
    let mut digits = [0; 10];
    let mut at = digits.len();
    let mut rest = number;
    for digit in digits.iter_mut().rev() {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
        at -= 1;
        if rest == 0 {
            break;
        }
    }
    print(digits.get(at..).unwrap_or_default());
}

/// Ends the run.
pub fn exit() -> ! {
    loop {
        debug::exit(EXIT_SUCCESS);
    }
}

/// The arguments of the run, from the emulator.
pub fn arguments(line: &mut [u8]) -> &[u8] {
    let block = [line.as_mut_ptr() as usize, line.len()];
    // SAFETY: SYS_GET_CMDLINE writes at most the bytes that the block names, and puts their number there.
    let failed = unsafe { cortex_m_semihosting::syscall(cortex_m_semihosting::nr::GET_CMDLINE, &block) };
    let end = line.iter().position(|byte| *byte == 0).filter(|_| failed == 0);
    line.get(..end.unwrap_or(0)).unwrap_or_default()
}
