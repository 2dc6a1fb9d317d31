//! smoltcp, doing the same work over the same frames.

use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::socket::udp;
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, Ieee802154Address, Ieee802154Pan, IpAddress, IpCidr};

use crate::experiment::{self, Frames, PAYLOAD_MAX};

const PORT: u16 = 5683;

/// A device that holds one datagram's frames each way.
struct Device {
    incoming: Frames,
    next: usize,
    outgoing: Frames,
}

struct Received<'d>(&'d [u8]);

impl phy::RxToken for Received<'_> {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, use_frame: F) -> R {
        use_frame(self.0)
    }
}

struct Sent<'d>(&'d mut Frames);

impl phy::TxToken for Sent<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, len: usize, fill: F) -> R {
        let Frames { bytes, lens, count } = self.0;
        let frame = &mut bytes[*count][..len];
        lens[*count] = len;
        *count += 1;
        fill(frame)
    }
}

impl phy::Device for Device {
    type RxToken<'d> = Received<'d>;
    type TxToken<'d> = Sent<'d>;

    fn receive(&mut self, _now: Instant) -> Option<(Received<'_>, Sent<'_>)> {
        let frame = self.incoming.iter().nth(self.next)?;
        self.next += 1;
        Some((Received(frame), Sent(&mut self.outgoing)))
    }

    fn transmit(&mut self, _now: Instant) -> Option<Sent<'_>> {
        Some(Sent(&mut self.outgoing))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.max_transmission_unit = 125;
        capabilities.medium = Medium::Ieee802154;
        capabilities
    }
}

/// A node of smoltcp with a socket. Its clock stands still, so that it knows its neighbour for ever.
pub(crate) struct Peer {
    device: Device,
    iface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
}

impl Peer {
    pub(crate) fn new(number: u8) -> Self {
        let mut device = Device {
            incoming: Frames::EMPTY,
            next: 0,
            outgoing: Frames::EMPTY,
        };
        let link = Ieee802154Address::Extended(experiment::eui(number));
        let mut config = Config::new(HardwareAddress::Ieee802154(link));
        config.pan_id = Some(Ieee802154Pan(0x0023));
        let mut iface = Interface::new(config, &mut device, Instant::ZERO);
        iface.update_ip_addrs(|addrs| {
            let address = IpAddress::Ipv6(experiment::address(number));
            addrs.push(IpCidr::new(address, 64)).expect("a free place");
        });
        let buffer = || udp::PacketBuffer::new(vec![udp::PacketMetadata::EMPTY; 2], vec![0; PAYLOAD_MAX]);
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(udp::Socket::new(buffer(), buffer()));
        sockets
            .get_mut::<udp::Socket<'_>>(socket)
            .bind(PORT)
            .expect("a free port");
        Self {
            device,
            iface,
            sockets,
            socket,
        }
    }

    /// Makes two nodes know each other, by neighbour discovery.
    pub(crate) fn meet(&mut self, number: u8, other: &mut Self) {
        self.send(number, &[0]);
        for _ in 0..4 {
            other.take(self.frames());
            other.run();
            self.take(other.frames());
            self.run();
        }
        let mut out = [0; 1];
        let arrived = other
            .sockets
            .get_mut::<udp::Socket<'_>>(other.socket)
            .recv_slice(&mut out);
        assert!(arrived.is_ok(), "the neighbours do not know each other");
    }

    /// What was sent last.
    pub(crate) fn frames(&self) -> &Frames {
        &self.device.outgoing
    }

    /// Puts frames into the device.
    pub(crate) fn take(&mut self, frames: &Frames) {
        self.device.incoming.clone_from(frames);
        self.device.next = 0;
    }

    /// Sends a datagram to node `to`: from the call to the last frame in the device's buffer.
    #[inline(never)]
    pub(crate) fn send(&mut self, to: u8, payload: &[u8]) {
        let socket = self.sockets.get_mut::<udp::Socket<'_>>(self.socket);
        let to = (IpAddress::Ipv6(experiment::address(to)), PORT);
        if socket.send_slice(payload, to).is_ok() {
            self.run();
        }
    }

    /// Receives the datagram whose frames the device holds: to the payload in the application's buffer; gives its length.
    #[inline(never)]
    pub(crate) fn receive(&mut self, payload: &mut [u8]) -> Option<usize> {
        self.iface
            .poll(Instant::ZERO, &mut self.device, &mut self.sockets);
        let socket = self.sockets.get_mut::<udp::Socket<'_>>(self.socket);
        socket.recv_slice(payload).ok().map(|(len, _)| len)
    }

    /// Runs until nothing more comes out.
    fn run(&mut self) {
        self.device.outgoing.count = 0;
        loop {
            let before = self.device.outgoing.count;
            self.iface
                .poll(Instant::ZERO, &mut self.device, &mut self.sockets);
            if self.device.outgoing.count == before {
                break;
            }
        }
    }
}
