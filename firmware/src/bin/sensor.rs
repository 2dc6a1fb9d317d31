//! A sensor: reports every 10 seconds and sleeps in between. After a minute it says how often it was awake, and ends.
#![no_std]
#![no_main]

use core::net::Ipv6Addr;

use cortex_m_rt::entry;
use sixlo::netdev::{Caps, FRAME_LEN_MAX, IfaceId, RxInfo};
use sixlo::netif::IfaceConfig;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo::time::{Duration, Instant};
use sixlo_firmware::board::{Clock, exit, print, print_number};
use sixlo_firmware::link::Link;

const RADIO: IfaceId = IfaceId(0);
/// The node that collects the reports.
const COLLECTOR: (Ipv6Addr, u16) = (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 2), 5683);
const EVERY: Duration = Duration::from_secs(10);
const REPORTS: u32 = 6;

#[entry]
fn main() -> ! {
    static mut MEMORY: Fixed<512, 4, 1, 1, 1> = Fixed::new();

    let (mut clock, mut link) = (Clock::start(), Link::start());
    // On a chip, its serial number and a source of noise.
    let mut stack = Stack::new(MEMORY.lend(), &Config::new(1)).expect("enough memory");
    let address = [2, 0, 0, 0, 0, 0, 0, 1];
    let mut iface = IfaceConfig::new(address);
    // A radio that does medium access by itself: the processor sleeps meanwhile.
    iface.caps = Caps {
        csma: true,
        fcs: true,
    };
    stack.bring_up(RADIO, iface).expect("one interface");
    let socket = stack.udp_bind(5683, 1).expect("a free socket");

    let mut frame = [0; FRAME_LEN_MAX];
    let mut report_at = Instant::ZERO + EVERY;
    let mut reports = 0;
    loop {
        let now = clock.now();
        while let Some(received) = link.receive() {
            stack.frame(now, RADIO, received, RxInfo::default(), &mut ());
        }
        if now >= report_at {
            let degrees = [21, reports as u8];
            let sent = stack.udp_send_to(now, socket, COLLECTOR, &degrees, &mut ());
            if sent.is_err() {
                print(b"a report was not sent\n");
            }
            reports += 1;
            report_at += EVERY;
        }
        let wakes_at = stack.poll(now, &mut ()).map_or(report_at, |at| at.min(report_at));
        if let Some(info) = stack.transmit(now, RADIO, &mut frame, &mut ()) {
            let report = link.send(&frame[..info.len]);
            stack.transmitted(now, RADIO, report, &mut ());
        } else if reports == REPORTS {
            break;
        } else if wakes_at > now {
            clock.sleep_until(Some(wakes_at));
        }
    }
    print_number(reports);
    print(b" reports, ");
    print_number(clock.wake_ups());
    print(b" wake-ups\n");
    exit();
}
