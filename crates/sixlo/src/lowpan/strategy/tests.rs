//! Names, places, and how the defaults stand to each other and to the RFCs.

use std::collections::BTreeSet;
use std::vec::Vec;

use super::*;
use crate::lowpan::{ReassemblyConfig, TIMEOUT_MAX};

#[test]
fn each_strategy_has_its_place_among_all_and_a_name_of_its_own() {
    let places: Vec<_> = Strategy::ALL.iter().map(|strategy| *strategy as usize).collect();
    assert_eq!(places, [0, 1, 2, 3]);
    let names: BTreeSet<_> = Strategy::ALL.iter().map(|strategy| strategy.name()).collect();
    assert_eq!(names.len(), Strategy::ALL.len());
    assert_eq!(Strategy::default().name(), "hop-wise");
}

/// RFC 8930 section 5: the time-out of forwarders is longer than that of the reassembling end.
#[test]
fn a_forwarder_remembers_a_datagram_for_longer_than_its_end_waits_for_it() {
    let forward = ForwardConfig::default();
    assert!(forward.timeout > ReassemblyConfig::default().timeout);
    assert!(forward.timeout > TIMEOUT_MAX);
    assert!(
        !forward.fallback,
        "RFC 8930 section 5: what cannot be forwarded is dropped"
    );
}

/// RFC 8931 section 7.1.
#[test]
fn the_parameters_of_recovery_are_within_those_of_the_rfc() {
    let config = RecoverConfig::default();
    assert!((1..=32).contains(&config.window));
    assert!(config.fragment_retries <= 7);
    assert!(config.arq_timeout_min <= config.arq_timeout);
    assert!(config.arq_timeout <= config.arq_timeout_max);
    // Section 6.2: the end still knows a datagram when its sender asks again after the first time-out, and after twice that.
    assert!(config.linger > config.arq_timeout.times(3));
    // Section 4.2: without a fixed gap it is derived.
    assert_eq!((Gap::default(), Gap::HOPS), (Gap::Derived, 2));
}
