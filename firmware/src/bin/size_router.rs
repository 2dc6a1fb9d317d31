//! 6LoWPAN, IPv6, ICMPv6 and UDP as a router, with the packet buffer of GNRC's experiments (Lenders 2016, section 5.3.2).
//! `cargo xtask size` builds it without default features.
#![no_std]
#![no_main]

sixlo_firmware::node!(bytes: 1676, packets: 12, reassemblies: 1, vrbs: 0, transfers: 0);
