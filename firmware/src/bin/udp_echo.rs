//! Sends every UDP datagram to port 7 back to where it came from, over a serial line (see `link`).
#![no_std]
#![no_main]

use cortex_m_rt::entry;
use sixlo::netdev::{FRAME_LEN_MAX, IfaceId, RxInfo};
use sixlo::netif::IfaceConfig;
use sixlo::sock::UDP_PAYLOAD_LEN_MAX;
use sixlo::stack::{Config, Fixed, Stack};
use sixlo_firmware::board::Clock;
use sixlo_firmware::link::Link;

const RADIO: IfaceId = IfaceId(0);
const ECHO_PORT: u16 = 7;

#[entry]
fn main() -> ! {
    static mut MEMORY: Fixed<2048, 4, 1, 1, 1> = Fixed::new();
    static mut PAYLOAD: [u8; UDP_PAYLOAD_LEN_MAX] = [0; UDP_PAYLOAD_LEN_MAX];

    let (mut clock, mut link) = (Clock::start(), Link::start());
    // On a chip, its serial number and a source of noise.
    let mut stack = Stack::new(MEMORY.lend(), &Config::new(2)).expect("enough memory");
    let address = [2, 0, 0, 0, 0, 0, 0, 2];
    stack
        .bring_up(RADIO, IfaceConfig::new(address))
        .expect("one interface");
    let socket = stack.udp_bind(ECHO_PORT, 1).expect("a free socket");

    let mut frame = [0; FRAME_LEN_MAX];
    loop {
        let now = clock.now();
        if let Some(received) = link.receive() {
            stack.frame(now, RADIO, received, RxInfo::default(), &mut ());
        }
        if let Some(request) = stack.udp_receive(now, socket, PAYLOAD, &mut ()) {
            let (from, payload) = ((request.src, request.src_port), &PAYLOAD[..request.len]);
            // With no room left the datagram is lost, as on any link.
            let _ = stack.udp_send_to(now, socket, from, payload, &mut ());
        }
        let deadline = stack.poll(now, &mut ());
        if let Some(info) = stack.transmit(now, RADIO, &mut frame, &mut ()) {
            let report = link.send(&frame[..info.len]);
            stack.transmitted(now, RADIO, report, &mut ());
        } else if deadline.is_none_or(|at| at > now) {
            clock.sleep_until(deadline);
        }
    }
}
