//! 6LoWPAN that puts datagrams together at every hop, with the entries of Lenders, Schmidt and Wählisch 2021, table 3: 64
//! datagrams to send, 1 reassembly, 16 contexts. `cargo xtask size` builds it without default features.
#![no_std]
#![no_main]

sixlo_firmware::node!(bytes: 6144, packets: 64, reassemblies: 1, vrbs: 0, transfers: 0);
