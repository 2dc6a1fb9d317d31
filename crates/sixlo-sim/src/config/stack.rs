//! Link, medium access, sizes of the stack, and the time that a node computes.

use std::net::Ipv6Addr;

use serde::{Deserialize, Serialize};

use super::{Forward, Mark, Problem, Recover, Strategy, Tcp};

/// Channel, PAN and addresses.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Link {
    /// Channel of the 2.4 GHz band, 11 to 26. Default 26.
    pub channel: u8,
    /// PAN identifier. Default 0x23 (RIOT's).
    pub pan_id: u16,
    /// Frames within the PAN carry its identifier once (IEEE 802.15.4-2020, 7.2.2.6). Default true; RIOT sends it twice.
    pub pan_id_compression: bool,
    /// Which link-layer addresses frames carry. Default extended.
    pub addresses: Addresses,
    /// The /64 prefix of the nodes' global addresses. Default fd00::.
    pub prefix: Ipv6Addr,
    /// The prefix is context 0 of header compression at every node (RFC 6282). Default true.
    pub prefix_is_context: bool,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            channel: 26,
            pan_id: 0x23,
            pan_id_compression: true,
            addresses: Addresses::Extended,
            prefix: Ipv6Addr::new(0xfd00, 0, 0, 0, 0, 0, 0, 0),
            prefix_is_context: true,
        }
    }
}

/// Whether a prefix is one of 64 bits that nodes can have global addresses of.
pub(crate) fn check_prefix(key: &str, prefix: Ipv6Addr) -> Result<(), Problem> {
    let is_local = prefix.is_multicast() || prefix.is_unicast_link_local();
    if prefix.to_bits() as u64 != 0 || prefix.is_unspecified() || is_local {
        let wanted = "a /64 prefix, like \"fd00::\"";
        return Err(Problem::new(key, prefix.to_string(), wanted));
    }
    Ok(())
}

/// Which link-layer addresses frames carry.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Addresses {
    /// `"extended"`: EUI-64.
    #[default]
    Extended,
    /// `"short"`: 16 bits.
    Short,
}

/// CSMA/CA and link retries, be it the stack's or the radio's (IEEE 802.15.4-2020, 6.2.5.1 and table 8-94).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Mac {
    /// `macMinBe`. Default 3.
    pub min_be: u8,
    /// `macMaxBe`. Default 5.
    pub max_be: u8,
    /// `macMaxCsmaBackoffs`: busy assessments after the first before an attempt fails. Default 4.
    pub max_backoffs: u8,
    /// `macMaxFrameRetries`. Default 3.
    pub max_retries: u8,
    /// Before each link retry a time uniform in 0 to this passes (Kumar et al. 2020, section 7.1). Needs a radio whose
    /// CSMA/CA is the stack's. Default 0.
    pub retry_delay_max_us: u64,
    /// An attempt that found the channel busy at every assessment is followed by another, as OpenThread does it; the standard
    /// gives the frame up. Needs a radio whose CSMA/CA is the stack's. Default false.
    pub retry_busy: bool,
}

impl Default for Mac {
    fn default() -> Self {
        Self {
            min_be: 3,
            max_be: 5,
            max_backoffs: 4,
            max_retries: 3,
            retry_delay_max_us: 0,
            retry_busy: false,
        }
    }
}

/// Sizes and time-outs of the stack on each node. Defaults as in Lenders et al. 2021, table 4.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Stack {
    /// What becomes of datagrams that no frame holds. Default hop-wise.
    pub strategy: Strategy,
    /// Between the frames with fragments that a node sends this time passes, in us. Default: derived from air time and
    /// the hops that interfere.
    pub fragment_gap_us: Option<u32>,
    /// Datagrams that are being forwarded fragment by fragment. Default 16.
    pub vrb_entries: u16,
    /// Datagrams that a node itself sends in recoverable fragments at a time; more are dropped. Default 64.
    pub fragmentation_entries: u16,
    /// The largest IPv6 packet in bytes. Default 1280; less is an experiment with IPv6 fragments.
    pub mtu_bytes: u16,
    /// Packet buffer in bytes. Default 6144.
    pub packet_buffer_bytes: u32,
    /// Packet descriptors. Default 96.
    pub packets: u16,
    /// Datagrams that wait for the radio. Default 64. They are cut into fragments when the radio asks for a frame, so
    /// that there is no separate fragmentation buffer.
    pub send_queue: u16,
    /// Datagrams that are being put together. Default 1.
    pub reassembly_entries: u16,
    /// The same at the sink. Default 16.
    pub sink_reassembly_entries: u16,
    /// A datagram that is not complete after this is given up, in ms. Default 10000; at most 60000 (RFC 4944 section
    /// 5.3).
    pub reassembly_timeout_ms: u32,
    /// A datagram that was completed or given up is remembered for this long, in us, so that late fragments open no new
    /// reassembly; its place is given away earlier if needed. Default 250.
    pub reassembly_remember_us: u32,
    /// A full table gives up its oldest datagram for a new one. Default false.
    pub reassembly_eviction: bool,
    /// Datagrams that wait in a socket. Default 8.
    pub socket_queue: u16,
    /// Hop limit of the datagrams that a node sends. Default 64.
    pub hop_limit: u8,
    /// Fragments of RFC 4944 that are forwarded.
    pub forward: Forward,
    /// Recoverable fragments.
    pub recover: Recover,
    /// When what a node forwards is marked because it meets congestion.
    pub mark: Mark,
    /// TCP.
    pub tcp: Tcp,
}

impl Default for Stack {
    fn default() -> Self {
        Self {
            strategy: Strategy::HopWise,
            fragment_gap_us: None,
            vrb_entries: 16,
            fragmentation_entries: 64,
            mtu_bytes: 1_280,
            packet_buffer_bytes: 6_144,
            packets: 96,
            send_queue: 64,
            reassembly_entries: 1,
            sink_reassembly_entries: 16,
            reassembly_timeout_ms: 10_000,
            reassembly_remember_us: 250,
            reassembly_eviction: false,
            socket_queue: 8,
            hop_limit: 64,
            forward: Forward::default(),
            recover: Recover::default(),
            mark: Mark::default(),
            tcp: Tcp::default(),
        }
    }
}

/// How long a node computes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cpu {
    /// `cpu = "instant"`: no time at all.
    #[default]
    Instant,
    /// `cpu = "riot-m3"`: what Lenders et al. 2021 (section IV-C) measured on the IoT-LAB M3: the device is busy for up
    /// to 4 ms a frame, and 8 ms pass from the last fragment in to the first fragment out.
    RiotM3,
    /// `[cpu.cortex-m3]`: what the stack itself takes on a Cortex-M3, by instructions counted on the emulated chip.
    CortexM3(CortexM3),
    /// `[cpu.cortex-m0plus]`: the same on a Cortex-M0+, whose instructions are counted, and whose cycles are those of the former.
    CortexM0plus(CortexM0plus),
    /// `[cpu.times]`: as given.
    Times(CpuTimes),
}

/// A Cortex-M3 that runs nothing but the stack, in memory without wait states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CortexM3 {
    /// Its clock in MHz, 1 to 1000. Default 72, that of the STM32F103 on the IoT-LAB M3.
    pub clock_mhz: u16,
}

impl Default for CortexM3 {
    fn default() -> Self {
        Self { clock_mhz: 72 }
    }
}

/// A Cortex-M0+ that runs nothing but the stack, in memory without wait states.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CortexM0plus {
    /// Its clock in MHz, 1 to 1000. Default 48, that of the ATSAMR21.
    pub clock_mhz: u16,
}

impl Default for CortexM0plus {
    fn default() -> Self {
        Self { clock_mhz: 48 }
    }
}

/// Computing times. While a node computes, its radio goes on, but nothing is read from it or written to it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CpuTimes {
    /// For each frame taken from the radio, in us.
    pub frame_in_us: u32,
    /// For each frame given to the radio, in us.
    pub frame_out_us: u32,
    /// For each message between two modules of the stack, in us.
    pub message_us: u32,
    /// For each byte of a frame in or out, in ns.
    pub byte_ns: u32,
}
