//! What others published, in bytes, with its origin.

/// A figure of another stack.
pub(crate) struct Published {
    pub(crate) name: &'static str,
    pub(crate) rom: u64,
    pub(crate) ram: u64,
    pub(crate) origin: &'static str,
}

/// The 6LoWPAN layer with hop-wise reassembly.
pub(crate) const LOWPAN: &[Published] = &[
    Published {
        name: "GNRC, hop-wise reassembly",
        rom: 6369,
        ram: 1334,
        origin: "Lenders, Schmidt, Wählisch 2021, table 3: 64 datagrams to send, 1 reassembly, 16 contexts, gcc 9.3 -Os",
    },
    Published {
        name: "lwIP",
        rom: 5193,
        ram: 0,
        origin: "built for comparison with gcc 12.2 -Os; RAM not separable",
    },
    Published {
        name: "Contiki-NG",
        rom: 5177,
        ram: 1747,
        origin: "built for comparison with gcc 12.2 -Os",
    },
];

/// Whole stacks: 6LoWPAN, IPv6, ICMPv6, UDP.
pub(crate) const STACKS: &[Published] = &[
    Published {
        name: "Contiki-NG, no routing, without MAC",
        rom: 16_869,
        ram: 9_695,
        origin: "built for comparison with gcc 12.2 -Os; RAM with MAC; CSMA and framers are 2,801 bytes more",
    },
    Published {
        name: "lwIP as a host",
        rom: 18_935,
        ram: 8_898,
        origin: "built for comparison with gcc 12.2 -Os, neighbour discovery included, without libc; as a router 206 bytes more",
    },
    Published {
        name: "smoltcp",
        rom: 27_818,
        ram: 8_404,
        origin: "built for comparison with rustc 1.96 at opt-level s, panics abort at once; whole image, no forwarding",
    },
];
