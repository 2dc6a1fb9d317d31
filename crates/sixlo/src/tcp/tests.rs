//! What the entries of the tables cost.

use super::{Connection, HalfOpen, Listener};

/// Kumar et al. 2020, table 3: 364 bytes for an active socket, 12 for a passive one, without the buffers. No entry has a
/// pointer in it, so that it is as large on the chip.
#[test]
fn t1_an_active_socket_is_below_364_bytes_and_a_passive_one_below_12() {
    assert!(size_of::<Connection>() < 364, "{} bytes", size_of::<Connection>());
    assert!(size_of::<Listener>() <= 12, "{} bytes", size_of::<Listener>());
    assert!(size_of::<HalfOpen>() <= 100, "{} bytes", size_of::<HalfOpen>());
    assert_eq!(align_of::<Connection>(), 4, "a hole, or a pointer");
    std::println!(
        "connection {}, listener {}, half open {}",
        size_of::<Connection>(),
        size_of::<Listener>(),
        size_of::<HalfOpen>()
    );
}
