//! The same as `size_hwr` with forwarding of fragments (RFC 8930), 16 datagrams at once. `cargo xtask size` builds it with the
//! feature `forward` alone.
#![no_std]
#![no_main]

sixlo_firmware::node!(bytes: 6144, packets: 64, reassemblies: 1, vrbs: 16, transfers: 0);
