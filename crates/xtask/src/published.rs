//! What others published, in bytes and in instructions, with its origin.

/// ROM and RAM of the parts of GNRC's 6LoWPAN: hop-wise reassembly, fragment forwarding, selective fragment recovery.
pub(crate) const LOWPAN: [(&str, [&str; 3]); 4] = [
    ("fragmentation buffer", ["104 / 770", "100 / 1026", "104 / 2562"]),
    ("reassembly buffer", ["1112 / 176", "1554 / 1840", "1144 / 184"]),
    ("virtual reassembly buffer", ["n/a", "532 / 640", "532 / 704"]),
    (
        "protocol, IPHC, contexts",
        ["5153 / 388", "5865 / 388", "8353 / 2500"],
    ),
];

/// Their sums.
pub(crate) const LOWPAN_SUM: [&str; 3] = ["6369 / 1334", "8051 / 3894", "10133 / 5950"];

/// Where they are from.
pub(crate) const LOWPAN_ORIGIN: &str =
    "GNRC: Lenders, Schmidt, Wählisch 2021, table 3, gcc 9.3.1 -Os, packet buffer not counted";

/// 6LoWPAN of others, built for comparison with gcc 12.2 -Os.
pub(crate) const LOWPAN_OTHERS: [(&str, &str); 2] = [
    ("lwIP (RAM not separable)", "5193"),
    ("Contiki-NG", "5177 / 1747"),
];

/// A whole stack.
pub(crate) struct Whole {
    pub(crate) name: &'static str,
    pub(crate) rom: &'static str,
    pub(crate) ram: &'static str,
    pub(crate) origin: &'static str,
}

/// Whole stacks: 6LoWPAN, IPv6, ICMPv6, UDP.
pub(crate) const STACKS: [Whole; 4] = [
    Whole {
        name: "Contiki-NG, no routing",
        rom: "16869",
        ram: "9695",
        origin: "built for comparison, gcc 12.2 -Os, without MAC (2801 more); RAM with it",
    },
    Whole {
        name: "lwIP, host",
        rom: "18935",
        ram: "8898",
        origin: "the same; neighbour discovery included, libc not; as a router 206 more",
    },
    Whole {
        name: "smoltcp, host",
        rom: "27818",
        ram: "8404",
        origin: "rustc 1.96, opt-level s, panics abort at once; whole image",
    },
    Whole {
        name: "GNRC with RPL, the goal of its thesis",
        rom: "30720",
        ram: "10240",
        origin: "Lenders 2016, sections 3.2.1 and 5.3.4 (figure 5.3 has no numbers)",
    },
];

/// Instructions of others for a datagram on the host, to send and to receive, for 8 and 1232 bytes of payload.
pub(crate) const SPEED: [(&str, [u32; 4]); 2] = [
    ("lwIP, gcc 12.2 -O2", [1938, 7817, 1523, 13567]),
    ("smoltcp 0.14, opt-level 3", [1996, 6977, 2086, 14639]),
];

/// TCP of others: bytes of code.
pub(crate) const TCP: [(&str, u32); 2] = [
    ("TCPlp, the protocol (Kumar et al. 2020, table 3)", 19_972),
    ("lwIP, built for comparison, gcc 12.2 -Os", 14_384),
];
