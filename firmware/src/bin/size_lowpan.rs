//! The same with the entries of Lenders, Schmidt and Wählisch 2021, table 3: 64 datagrams to send, 1 reassembly, 16 contexts,
//! 16 datagrams forwarded by their fragments, 64 sent in recoverable ones.
#![no_std]
#![no_main]

sixlo_firmware::node!(bytes: 6144, packets: 64, reassemblies: 1, vrbs: 16, transfers: 64);
