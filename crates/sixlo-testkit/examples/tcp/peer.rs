//! A node of smoltcp with one connection.

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, DeviceCapabilities};
use smoltcp::socket::tcp;
use smoltcp::time::{Duration, Instant};
use smoltcp::wire::{HardwareAddress, Ieee802154Address, Ieee802154Pan, IpAddress, IpCidr};

use crate::link::{FRAME_MAX, Medium, Node, Offer, PORT, Setup};
use crate::ours::{address, eui};

/// Bytes of the headers that the segment size does not count.
const HEADERS_LEN: usize = 60;

/// Frames that may wait to be fetched.
const FRAMES_MAX: usize = 8;

/// A frame that a device holds.
#[derive(Clone, Copy)]
struct Frame {
    bytes: [u8; FRAME_MAX],
    /// 0 if there is none.
    len: usize,
}

impl Frame {
    const NONE: Self = Self {
        bytes: [0; FRAME_MAX],
        len: 0,
    };
}

/// Frames that wait to be fetched: a ring.
struct Outgoing {
    frames: [Frame; FRAMES_MAX],
    first: usize,
    count: usize,
}

/// A device that holds what came in until it is looked at, and what is to go out until it is fetched.
struct Device {
    incoming: Frame,
    outgoing: Outgoing,
    medium: phy::Medium,
    mtu: usize,
    /// Frames that may wait to be fetched.
    room: usize,
    /// There was no room: who drives it tries again when there is.
    refused: bool,
}

struct Received<'d>(&'d [u8]);

impl phy::RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, use_frame: F) -> R {
        use_frame(self.0)
    }
}

struct Sent<'d>(&'d mut Outgoing);

impl phy::TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, fill: F) -> R {
        let Outgoing { frames, first, count } = self.0;
        let frame = &mut frames[(*first + *count) % FRAMES_MAX];
        *count += 1;
        frame.len = len;
        fill(&mut frame.bytes[..len])
    }
}

impl phy::Device for Device {
    type RxToken<'d> = Received<'d>;
    type TxToken<'d> = Sent<'d>;

    fn receive(&mut self, _now: Instant) -> Option<(Received<'_>, Sent<'_>)> {
        let Frame { bytes, len } = &mut self.incoming;
        // An answer finds room in any case.
        if *len == 0 || self.outgoing.count == FRAMES_MAX {
            return None;
        }
        let frame = &bytes[..core::mem::take(len)];
        Some((Received(frame), Sent(&mut self.outgoing)))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Sent<'_>> {
        self.refused = self.outgoing.count >= self.room;
        (!self.refused).then_some(Sent(&mut self.outgoing))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.max_transmission_unit = self.mtu;
        capabilities.medium = self.medium;
        capabilities
    }
}

/// A node.
pub(crate) struct Peer {
    device: Device,
    iface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
}

fn at(now: u64) -> Instant {
    Instant::from_micros(i64::try_from(now).expect("a time of this century"))
}

impl Peer {
    /// A node that listens (2), or connects to the one that does (1).
    pub(crate) fn new(number: u8, setup: &Setup) -> Self {
        let link = Ieee802154Address::Extended(eui(number));
        let (medium, address_of_link, room) = match setup.medium {
            Medium::Packets => (phy::Medium::Ip, HardwareAddress::Ip, FRAMES_MAX),
            // With room for more, the next segment overwrites the fragments of the last one that wait to be sent.
            Medium::Radio => (phy::Medium::Ieee802154, HardwareAddress::Ieee802154(link), 1),
        };
        let mut device = Device {
            incoming: Frame::NONE,
            outgoing: Outgoing {
                frames: [Frame::NONE; FRAMES_MAX],
                first: 0,
                count: 0,
            },
            medium,
            mtu: usize::from(setup.segment) + HEADERS_LEN,
            room,
            refused: false,
        };
        let mut config = Config::new(address_of_link);
        config.pan_id = (setup.medium == Medium::Radio).then_some(Ieee802154Pan(0x0023));
        config.random_seed = number.into();
        let mut iface = Interface::new(config, &mut device, at(0));
        // A datagram that lacks a fragment keeps its place; with the 60 s that it has else, hardly anything gets through.
        iface.set_reassembly_timeout(Duration::from_secs(1));
        iface.update_ip_addrs(|addrs| {
            let own = IpAddress::Ipv6(address(number));
            addrs.push(IpCidr::new(own, 64)).expect("a free place");
        });
        let buffer = || tcp::SocketBuffer::new(vec![0; setup.window]);
        let mut socket = tcp::Socket::new(buffer(), buffer());
        socket.set_congestion_control(tcp::CongestionControl::Reno);
        if setup.offer != Offer::Plain {
            // Its own clock would be that of the machine.
            socket.set_tsval_generator(Some(|| 1));
        }
        if number == 2 {
            socket.listen(PORT).expect("a free port");
        } else {
            let remote = (IpAddress::Ipv6(address(2)), PORT);
            socket
                .connect(iface.context(), remote, 50_000)
                .expect("a way to the other end");
        }
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(socket);
        Self {
            device,
            iface,
            sockets,
            socket,
        }
    }

    #[inline(never)]
    fn send(&mut self, bytes: &[u8]) -> usize {
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.socket);
        socket.send_slice(bytes).unwrap_or(0)
    }

    #[inline(never)]
    fn receive(&mut self, out: &mut [u8]) -> usize {
        let socket = self.sockets.get_mut::<tcp::Socket<'_>>(self.socket);
        socket.recv_slice(out).unwrap_or(0)
    }

    #[inline(never)]
    fn run(&mut self, now: u64) {
        self.device.refused = false;
        self.iface.poll(at(now), &mut self.device, &mut self.sockets);
    }
}

impl Node for Peer {
    fn is_open(&mut self) -> bool {
        let socket = self.sockets.get::<tcp::Socket<'_>>(self.socket);
        socket.state() == tcp::State::Established
    }

    fn write(&mut self, now: u64, bytes: &[u8]) -> usize {
        let sent = self.send(bytes);
        if sent > 0 {
            self.run(now);
        }
        sent
    }

    fn read(&mut self, _now: u64, out: &mut [u8]) -> usize {
        self.receive(out)
    }

    fn take(&mut self, now: u64, frame: &[u8]) {
        let Frame { bytes, len } = &mut self.device.incoming;
        bytes[..frame.len()].copy_from_slice(frame);
        *len = frame.len();
        self.run(now);
    }

    fn give(&mut self, now: u64, frame: &mut [u8]) -> usize {
        // Its fragments go out one at a time.
        let more = self.device.refused
            || self
                .iface
                .poll_at(at(now), &self.sockets)
                .is_some_and(|next| next <= at(now));
        if self.device.outgoing.count == 0 && more {
            self.run(now);
        }
        let Outgoing { frames, first, count } = &mut self.device.outgoing;
        if *count == 0 {
            return 0;
        }
        let Frame { bytes, len } = &frames[*first];
        frame[..*len].copy_from_slice(&bytes[..*len]);
        *first = (*first + 1) % FRAMES_MAX;
        *count -= 1;
        *len
    }

    fn done(&mut self, _now: u64) {}

    fn poll(&mut self, now: u64) {
        self.run(now);
    }

    fn deadline(&mut self, now: u64) -> Option<u64> {
        // What waits for room is tried when there is room.
        if self.device.refused {
            return None;
        }
        let next = self.iface.poll_at(at(now), &self.sockets);
        next.and_then(|next| u64::try_from(next.total_micros()).ok())
    }
}
