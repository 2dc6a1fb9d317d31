//! The same as `size_router` with all that the stack has but TCP.
#![no_std]
#![no_main]

sixlo_firmware::node!(bytes: 1676, packets: 12, reassemblies: 1, vrbs: 0, transfers: 0);
