//! The same as `size_ff` with recovery of fragments (RFC 8931), 64 datagrams at once. `cargo xtask size` builds it with the
//! feature `recover` alone.
#![no_std]
#![no_main]

sixlo_firmware::node!(bytes: 6144, packets: 64, reassemblies: 1, vrbs: 16, transfers: 64);
