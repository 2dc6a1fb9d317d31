//! How a stack behaves from the start; what can be changed later is an option.

use crate::icmpv6::Icmpv6Config;
use crate::ipv6::Ipv6Config;
use crate::lowpan::LowpanConfig;
use crate::mac::duplicates;
use crate::tcp::TcpConfig;
use crate::time::Duration;

/// The configuration of a stack. Interfaces are configured when they are brought up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Config {
    /// What the stack's random numbers are made from: back-offs, first tags and sequence numbers. It must differ from
    /// node to node and from boot to boot.
    pub seed: u64,
    /// Bytes of the packet buffer that only reception, and only transmission, may take. Default 0 and 0.
    pub reserve_bytes: [usize; 2],
    /// How long a frame is remembered for the sake of its retransmissions.
    pub duplicate_window: Duration,
    /// 6LoWPAN.
    pub lowpan: LowpanConfig,
    /// IPv6.
    pub ipv6: Ipv6Config,
    /// ICMPv6.
    pub icmpv6: Icmpv6Config,
    /// TCP.
    pub tcp: TcpConfig,
}

impl Config {
    /// The defaults of the standards, with this seed.
    pub fn new(seed: u64) -> Self {
        Self {
            seed,
            reserve_bytes: [0; 2],
            duplicate_window: duplicates::WINDOW,
            lowpan: LowpanConfig::default(),
            ipv6: Ipv6Config::default(),
            icmpv6: Icmpv6Config::default(),
            tcp: TcpConfig::default(),
        }
    }
}
