//! Which part of the stack a byte of code belongs to.

/// A part of the image: a line of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Part {
    Fragmentation,
    Reassembly,
    Protocol,
    Forwarding,
    Recovery,
    Congestion,
    Ghc,
    Interface,
    Mac,
    Ipv6,
    Extensions,
    Ipv6Fragments,
    Icmpv6,
    Udp,
    Tcp,
    Buffer,
    Dispatcher,
    Formats,
    Application,
    Start,
    Shared,
    BuiltIns,
    Rest,
}

impl Part {
    pub(crate) const ALL: [Self; 23] = [
        Self::Fragmentation,
        Self::Reassembly,
        Self::Protocol,
        Self::Forwarding,
        Self::Recovery,
        Self::Congestion,
        Self::Ghc,
        Self::Interface,
        Self::Mac,
        Self::Ipv6,
        Self::Extensions,
        Self::Ipv6Fragments,
        Self::Icmpv6,
        Self::Udp,
        Self::Tcp,
        Self::Buffer,
        Self::Dispatcher,
        Self::Formats,
        Self::Application,
        Self::Start,
        Self::Shared,
        Self::BuiltIns,
        Self::Rest,
    ];

    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Fragmentation => "6LoWPAN: fragmentation",
            Self::Reassembly => "6LoWPAN: reassembly",
            Self::Protocol => "6LoWPAN: protocol, IPHC, contexts",
            Self::Forwarding => "6LoWPAN: fragment forwarding (RFC 8930)",
            Self::Recovery => "6LoWPAN: fragment recovery (RFC 8931)",
            Self::Congestion => "6LoWPAN: congestion control of fragments",
            Self::Ghc => "6LoWPAN: GHC (RFC 7400)",
            Self::Interface => "interface, 802.15.4 frames",
            Self::Mac => "CSMA/CA, retries, duplicates",
            Self::Ipv6 => "IPv6",
            Self::Extensions => "IPv6 extension headers",
            Self::Ipv6Fragments => "IPv6 fragments",
            Self::Icmpv6 => "ICMPv6",
            Self::Udp => "UDP, sockets",
            Self::Tcp => "TCP",
            Self::Buffer => "packet buffer",
            Self::Dispatcher => "dispatcher, registry, timers",
            Self::Formats => "addresses, checksum",
            Self::Application => "application and driver",
            Self::Start => "start-up, vector table",
            Self::Shared => "rest: constants of several parts",
            Self::BuiltIns => "rest: compiler built-ins, memory functions",
            Self::Rest => "rest: padding, veneers",
        }
    }

    /// The adaptation layer with hop-wise reassembly.
    pub(crate) const LOWPAN: [Self; 3] = [Self::Fragmentation, Self::Reassembly, Self::Protocol];

    /// The adaptation layer in the rows of table 3 of Lenders, Schmidt and Wählisch 2021: hop-wise reassembly, fragment
    /// forwarding, selective fragment recovery.
    pub(crate) const LOWPAN_ROWS: [[&[Self]; 3]; 4] = [
        [&[Self::Fragmentation]; 3],
        [&[Self::Reassembly]; 3],
        [&[], &[Self::Forwarding], &[Self::Forwarding]],
        [
            &[Self::Protocol],
            &[Self::Protocol],
            &[Self::Protocol, Self::Recovery, Self::Congestion],
        ],
    ];

    /// What a router of 6LoWPAN, IPv6, ICMPv6 and UDP can be without, beside interface and MAC: other stacks that are
    /// measured have none of it.
    pub(crate) const MORE: [Self; 7] = [
        Self::Forwarding,
        Self::Recovery,
        Self::Congestion,
        Self::Ghc,
        Self::Extensions,
        Self::Ipv6Fragments,
        Self::Tcp,
    ];

    /// What belongs to nobody: shared code and what the compiler adds.
    pub(crate) const REST: [Self; 3] = [Self::Shared, Self::BuiltIns, Self::Rest];

    /// What is below the adaptation layer.
    pub(crate) const LINK: [Self; 2] = [Self::Interface, Self::Mac];

    /// Whether the part is of a router of 6LoWPAN, IPv6, ICMPv6 and UDP, and of nothing else.
    pub(crate) fn is_router(self) -> bool {
        self.is_stack() && !Self::LINK.contains(&self) && !Self::MORE.contains(&self)
    }

    /// Whether the part is of the stack, and not of what runs it.
    pub(crate) fn is_stack(self) -> bool {
        self < Self::Application
    }
}

/// How strongly the place of a line in the source claims the code, where it was inlined: a protocol claims its own code
/// wherever that went, and what it has inlined of the layers below, as an object file of C claims the inline functions
/// of its headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Claim {
    Protocol,
    Format,
    Ground,
    Application,
    Helper,
}

/// Files by the beginning of their path in `crates/sixlo/src`, the more specific first.
const FILES: &[(&str, Claim, Part)] = &[
    ("lowpan/cut", Claim::Protocol, Part::Fragmentation),
    ("lowpan/reassembly/part", Claim::Protocol, Part::Recovery),
    ("lowpan/reassembly", Claim::Protocol, Part::Reassembly),
    ("lowpan/forward", Claim::Protocol, Part::Forwarding),
    ("lowpan/vrb", Claim::Protocol, Part::Forwarding),
    ("lowpan/peers", Claim::Protocol, Part::Forwarding),
    ("lowpan/recover", Claim::Protocol, Part::Recovery),
    ("lowpan", Claim::Protocol, Part::Protocol),
    ("wire/iphc", Claim::Protocol, Part::Protocol),
    ("wire/lowpan/rfrag", Claim::Protocol, Part::Recovery),
    ("wire/lowpan", Claim::Protocol, Part::Protocol),
    ("congure", Claim::Protocol, Part::Congestion),
    ("wire/ghc", Claim::Protocol, Part::Ghc),
    ("netif", Claim::Protocol, Part::Interface),
    ("mac", Claim::Protocol, Part::Mac),
    ("ipv6/extensions", Claim::Protocol, Part::Extensions),
    ("ipv6/fragment", Claim::Protocol, Part::Ipv6Fragments),
    ("ipv6/relay", Claim::Protocol, Part::Forwarding),
    ("ipv6", Claim::Protocol, Part::Ipv6),
    ("icmpv6", Claim::Protocol, Part::Icmpv6),
    ("udp", Claim::Protocol, Part::Udp),
    ("sock", Claim::Protocol, Part::Udp),
    ("tcp", Claim::Protocol, Part::Tcp),
    ("stack/tcp_api", Claim::Protocol, Part::Tcp),
    ("stack/segment_size", Claim::Protocol, Part::Tcp),
    ("wire/ieee802154", Claim::Format, Part::Interface),
    ("wire/fcs", Claim::Format, Part::Interface),
    ("wire/ipv6_ext/fragment", Claim::Format, Part::Ipv6Fragments),
    ("wire/ipv6_ext", Claim::Format, Part::Extensions),
    ("wire/ipv6", Claim::Format, Part::Ipv6),
    ("wire/icmpv6", Claim::Format, Part::Icmpv6),
    ("wire/udp", Claim::Format, Part::Udp),
    ("wire/tcp", Claim::Format, Part::Tcp),
    ("pktbuf", Claim::Ground, Part::Buffer),
    ("stack/fragments", Claim::Protocol, Part::Ipv6Fragments),
    ("stack", Claim::Ground, Part::Dispatcher),
    ("ground", Claim::Ground, Part::Dispatcher),
    ("netreg", Claim::Ground, Part::Dispatcher),
    ("timers", Claim::Ground, Part::Dispatcher),
    ("netapi", Claim::Helper, Part::Dispatcher),
    ("trace", Claim::Helper, Part::Dispatcher),
    ("netdev", Claim::Helper, Part::Dispatcher),
    ("rng", Claim::Helper, Part::Mac),
    ("time", Claim::Helper, Part::Formats),
    ("wire", Claim::Helper, Part::Formats),
];

/// What a source file claims, if it is one of ours.
pub(crate) fn of_file(path: &str) -> Option<(Claim, Part)> {
    if let Some((_, place)) = path.split_once("crates/sixlo/src/") {
        let known = FILES.iter().find(|(beginning, ..)| {
            let rest = place.strip_prefix(beginning);
            rest.is_some_and(|rest| rest.starts_with(['.', '/']))
        });
        return known.map(|&(_, claim, part)| (claim, part));
    }
    let ours = path.contains("firmware/src/");
    ours.then_some((Claim::Application, Part::Application))
}

/// The part of code that was inlined through these files, the innermost first.
pub(crate) fn of_chain<'a>(files: impl IntoIterator<Item = &'a str>) -> Option<Part> {
    let claims = files.into_iter().filter_map(of_file);
    // Of equal claims the innermost wins, which is the first.
    claims.min_by_key(|(claim, _)| *claim).map(|(_, part)| part)
}

/// The part of code that no file of ours claims, by the name of its symbol.
pub(crate) fn of_symbol(name: &str) -> Part {
    let built_in = [
        "compiler_builtins::",
        "__aeabi_",
        "mem",
        "__udiv",
        "__div",
        "core::",
        "<core::",
    ];
    let start = [
        "Reset",
        "__pre_init",
        "DefaultHandler",
        "HardFault",
        "__INTERRUPTS",
        "__EXCEPTIONS",
        "__RESET",
        "cortex_m",
    ];
    let begins = |with: &[&str]| with.iter().any(|beginning| name.starts_with(beginning));
    if begins(&start) {
        Part::Start
    } else if begins(&built_in) {
        Part::BuiltIns
    } else {
        Part::Rest
    }
}

/// The part of a static of `firmware/src/node.rs`.
pub(crate) fn of_static(name: &str) -> Part {
    match name.rsplit("::").next().unwrap_or(name) {
        "CUTS" => Part::Fragmentation,
        "REASSEMBLIES" => Part::Reassembly,
        "VRBS" | "PEERS" => Part::Forwarding,
        "TRANSFERS" | "INBOUNDS" => Part::Recovery,
        "CONTEXTS" => Part::Protocol,
        "IFACES" => Part::Interface,
        "SEEN" => Part::Mac,
        "ADDRESSES" | "NEIGHBORS" | "ROUTES" => Part::Ipv6,
        "MAILBOXES" => Part::Udp,
        "BYTES" | "SEGS" | "SLOTS" => Part::Buffer,
        "RECEIVERS" | "TIMERS" => Part::Dispatcher,
        "PAYLOAD" => Part::Application,
        _ => Part::Rest,
    }
}

/// The part of a field of the stack's own structs.
pub(crate) fn of_field(name: &str) -> Part {
    match name {
        "netif" => Part::Interface,
        "lowpan" => Part::Protocol,
        "ipv6" => Part::Ipv6,
        "icmpv6" => Part::Icmpv6,
        "sockets" => Part::Udp,
        "tcp" => Part::Tcp,
        "buf" => Part::Buffer,
        _ => Part::Dispatcher,
    }
}
