//! The state of a connection.

use core::net::Ipv6Addr;

use super::config::TcpConfig;
use super::error::TcpError;
use super::receive::Receive;
use super::recovery::Recovery;
use super::scoreboard::Scoreboard;
use super::state::State;
use super::timer::Deadline;
use super::undo::Before;
use crate::congure::{Congestion, Params, Report, RttLimits};
use crate::ground::Cx;
use crate::netdev::IfaceId;
use crate::pktbuf::{Kept, PktBuf};
use crate::time::{Duration, Instant};
use crate::trace::{Event, Sink, Told};
use crate::wire::tcp::seq::Seq;

/// The first timer where a SYN was lost (RFC 6298 (5.7)).
const AFTER_LOST_SYN: Duration = Duration::from_secs(3);

/// Addresses and ports of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Endpoints {
    /// Our address.
    pub local: Ipv6Addr,
    /// The peer's address.
    pub remote: Ipv6Addr,
    /// Our port.
    pub local_port: u16,
    /// The peer's port.
    pub remote_port: u16,
}

impl Endpoints {
    pub(super) const NONE: Self = Self {
        local: Ipv6Addr::UNSPECIFIED,
        remote: Ipv6Addr::UNSPECIFIED,
        local_port: 0,
        remote_port: 0,
    };
}

/// What a connection is about to do or has agreed on.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Flags {
    /// The application has it, or will accept it.
    pub(super) owned: bool,
    /// It was opened by a SYN of the peer and waits to be accepted.
    pub(super) ready: bool,
    /// There may be something to send.
    pub(super) output: bool,
    /// An acknowledgement has to go out now.
    pub(super) ack_now: bool,
    /// A segment is to go out even if little can be sent: the timer says so.
    pub(super) force: bool,
    /// The retransmission timer counts the time to the next probe of a zero window.
    pub(super) persisting: bool,
    /// A segment without its retransmission is being timed.
    pub(super) timing: bool,
    /// Small segments do not wait.
    pub(super) no_delay: bool,
    /// The peer's SYN has come.
    pub(super) heard: bool,
    /// Segments carry timestamps (RFC 7323).
    pub(super) stamps: bool,
    /// Both understand selective acknowledgement (RFC 2018).
    pub(super) sack: bool,
    /// Both understand explicit congestion notification (RFC 3168).
    pub(super) ecn: bool,
    /// Acknowledgements tell of congestion.
    pub(super) echo_congestion: bool,
    /// The next new data tells that we slowed down.
    pub(super) slowed_down: bool,
    /// The first segment that is not acknowledged goes out again, whatever the window.
    pub(super) again: bool,
    /// A part of what was outstanding when recovery began is acknowledged.
    pub(super) partial: bool,
    /// `fin_at` is known.
    pub(super) fin_known: bool,
    /// A quiet connection is probed, and a probe is to go out now.
    pub(super) keep_alive: bool,
    pub(super) keep_probe: bool,
    /// An ICMPv6 error said that the peer cannot be reached.
    pub(super) unreachable: bool,
    /// `challenges` was set once.
    pub(super) challenged: bool,
    /// A SYN of ours was lost.
    pub(super) syn_lost: bool,
    /// Our FIN goes out once the connection is established.
    pub(super) shut: bool,
    /// The peer is to get a RST, the last thing that is sent.
    pub(super) reset: bool,
}

/// A connection. The empty value is all-zero bits.
///
/// The fields are in the order in which the code of a Cortex-M3 reaches them best: its short instructions load a byte of the first
/// 32, a halfword of the first 64, a word of the first 128 bytes (Armv7-M Architecture Reference Manual, A7.7.43 to A7.7.55).
#[repr(C)]
pub struct Connection {
    pub(super) flags: Flags,
    pub(super) state: State,
    /// What is being done about a loss, until `recover` is acknowledged.
    pub(super) recovery: Recovery,
    pub(super) error: Option<TcpError>,
    pub(super) iface: IfaceId,
    /// Duplicate acknowledgements in a row.
    pub(super) duplicates: u8,
    /// Time-outs in a row, or probes without an answer.
    pub(super) retries: u8,
    /// The listener that it came by, counted from 1, or 0.
    pub(super) listener: u8,
    /// Counts those that had this place before, so that a handle of old names nothing.
    pub(super) round: u8,
    /// Grows from one that came by a listener to the next.
    pub(super) order: u8,
    /// Keep-alive probes without an answer.
    pub(super) probes: u8,
    /// Challenge acknowledgements that may still be sent in this while, and which it is (RFC 5961 section 7).
    pub(super) challenges: u8,
    pub(super) challenges_at: u8,

    /// SND.WND in bytes, never scaled.
    pub(super) wnd: u16,
    /// The largest window that the peer ever offered.
    pub(super) max_wnd: u16,
    /// Bytes of data in a full segment, and how many we announce.
    pub(super) mss: u16,
    pub(super) own_mss: u16,
    /// Bytes at the end of `data` that the application has reserved and not committed.
    pub(super) reserved: u16,
    /// Without selective acknowledgements: bytes that have left the network, as duplicate ones say.
    pub(super) left: u16,

    /// What is to be sent and not acknowledged: it begins at `una`, behind the SYN as long as that is not
    /// acknowledged.
    pub(super) data: Option<Kept>,

    /// SND.UNA: the first number that is not acknowledged.
    pub(super) una: Seq,
    /// SND.NXT: what is sent next; before `max` after a time-out.
    pub(super) nxt: Seq,
    /// The number behind the last one that was ever sent.
    pub(super) max: Seq,
    /// ISS.
    pub(super) iss: Seq,
    /// SND.WL1 and SND.WL2: segment and acknowledgement that updated the window last.
    pub(super) wl: [Seq; 2],
    /// RCV.NXT.
    pub(super) rcv_nxt: Seq,
    /// The number behind the window that was announced last.
    pub(super) rcv_adv: Seq,
    /// The number that was acknowledged last.
    pub(super) acked: Seq,
    /// The number of the peer's FIN, where data before it is missing.
    pub(super) fin_at: Seq,
    /// Recovery lasts until this number is acknowledged.
    pub(super) recover: Seq,
    /// What was sent before it slowed down for congestion that the peer told of.
    pub(super) ecn_recover: Seq,
    /// The number whose acknowledgement is timed, since `timed_at`.
    pub(super) timed: Seq,

    /// TS.Recent (RFC 7323 section 4.3), and when it was set in [`PAWS`](super::stamps) units.
    pub(super) ts_recent: u32,
    pub(super) ts_recent_at: u32,
    /// What our clock is ahead of the stack's in timestamps (RFC 7323 section 5.4).
    pub(super) ts_offset: u32,

    /// Retransmission or zero-window probe.
    pub(super) retransmit_at: Deadline,
    /// Delayed acknowledgement.
    pub(super) ack_at: Deadline,
    /// The end of an open, of FIN-WAIT-2 or of TIME-WAIT, or the next keep-alive probe.
    pub(super) end_at: Deadline,
    /// When the next data may go out, where congestion control paces.
    pub(super) pace_at: Deadline,
    /// When the last time the peer acknowledged something new, for the user time-out.
    pub(super) progress_at: Deadline,
    pub(super) timed_at: Deadline,

    pub(super) receive: Receive,
    pub(super) congestion: Congestion,
    pub(super) scoreboard: Scoreboard,
    /// What congestion control was before the last loss.
    pub(super) before: Before,
    pub(super) ends: Endpoints,
}

impl Connection {
    /// A free place.
    pub const EMPTY: Self = Self {
        ends: Endpoints::NONE,
        iface: IfaceId(0),
        state: State::Closed,
        round: 0,
        listener: 0,
        order: 0,
        flags: Flags {
            owned: false,
            ready: false,
            output: false,
            ack_now: false,
            force: false,
            persisting: false,
            timing: false,
            no_delay: false,
            heard: false,
            stamps: false,
            sack: false,
            ecn: false,
            echo_congestion: false,
            slowed_down: false,
            again: false,
            partial: false,
            fin_known: false,
            keep_alive: false,
            keep_probe: false,
            unreachable: false,
            challenged: false,
            syn_lost: false,
            shut: false,
            reset: false,
        },
        error: None,
        iss: Seq(0),
        una: Seq(0),
        nxt: Seq(0),
        max: Seq(0),
        wl: [Seq(0); 2],
        wnd: 0,
        max_wnd: 0,
        mss: 0,
        own_mss: 0,
        reserved: 0,
        data: None,
        rcv_nxt: Seq(0),
        rcv_adv: Seq(0),
        acked: Seq(0),
        receive: Receive::EMPTY,
        fin_at: Seq(0),
        ts_recent: 0,
        ts_recent_at: 0,
        ts_offset: 0,
        congestion: Congestion::EMPTY,
        timed: Seq(0),
        timed_at: Deadline::NONE,
        recovery: Recovery::None,
        recover: Seq(0),
        duplicates: 0,
        challenges: 0,
        challenges_at: 0,
        left: 0,
        scoreboard: Scoreboard::EMPTY,
        before: Before::NONE,
        ecn_recover: Seq(0),
        probes: 0,
        retries: 0,
        retransmit_at: Deadline::NONE,
        ack_at: Deadline::NONE,
        end_at: Deadline::NONE,
        pace_at: Deadline::NONE,
        progress_at: Deadline::NONE,
    };

    /// Nobody has it and nothing is left of it.
    pub(super) const fn is_free(&self) -> bool {
        matches!(self.state, State::Closed) && !self.flags.owned && !self.flags.reset
    }

    /// Starts anew in this place.
    pub(super) fn open(&mut self, ends: Endpoints, iface: IfaceId, iss: Seq, mss: u16, config: &TcpConfig) {
        *self = Self {
            ends,
            iface,
            round: self.round.wrapping_add(1),
            iss,
            una: iss,
            nxt: iss,
            max: iss,
            recover: iss,
            ecn_recover: iss,
            mss,
            own_mss: mss,
            ..Self::EMPTY
        };
        self.flags.no_delay = !config.nagle;
    }

    /// Bytes that the application has handed over and the peer has not acknowledged.
    pub(super) fn queued(&self, buf: &PktBuf<'_>) -> u32 {
        let held = self.data.as_ref().map_or(0, |data| buf.len(data.pkt()));
        (held as u32).saturating_sub(u32::from(self.reserved))
    }

    /// What congestion control has to know.
    pub(super) fn params(&self, config: &TcpConfig) -> Params {
        let unit = u32::from(self.mss).max(1);
        // FreeBSD: ten segments (RFC 6928), no more than the send buffer. RFC 5681 section 3.1: one if a SYN was lost.
        let initial_window = match self.flags.syn_lost {
            true => unit,
            false => (10 * unit).min(u32::from(config.send_buffer)).max(unit),
        };
        Params {
            timer: self.limits(config),
            initial_window,
            ..Params::bytes(config.congestion, unit)
        }
    }

    /// How long to wait for an acknowledgement.
    #[cfg_attr(target_os = "none", inline(never))]
    pub(super) fn timeout(&self, config: &TcpConfig) -> Duration {
        self.congestion.rtt().timeout(&self.limits(config))
    }

    /// Bounds of the retransmission timer: RFC 6298 (5.7) starts with at least 3 s where a SYN was lost.
    fn limits(&self, config: &TcpConfig) -> RttLimits {
        let mut limits = config.timer;
        if self.flags.syn_lost && self.state.is_synchronized() {
            limits.initial = limits.initial.max(AFTER_LOST_SYN);
        }
        limits
    }

    /// Tells congestion control, with so many bytes under way.
    pub(super) fn report<S: Sink>(
        &mut self,
        cx: &mut Cx<'_, '_, S>,
        config: &TcpConfig,
        flight: u32,
        report: &Report,
    ) {
        let params = self.params(config);
        self.congestion.set_flight(flight);
        if let Some(change) = self.congestion.report(&params, cx.now, report) {
            self.tell(cx, change.told);
        }
    }

    /// Tells the sink what the congestion window is.
    pub(super) fn tell<S: Sink>(&self, cx: &mut Cx<'_, '_, S>, told: Told) {
        cx.event(Event::CongestionWindow {
            from_port: self.ends.local_port,
            to_port: self.ends.remote_port,
            window: self.congestion.window(),
            flight: self.congestion.flight(),
            told,
        });
    }

    /// Why it ends when nobody answers any more (RFC 9293 section 3.9.2.2: soft errors are told then).
    pub(super) const fn silence(&self) -> TcpError {
        match self.flags.unreachable {
            true => TcpError::Unreachable,
            false => TcpError::TimedOut,
        }
    }

    /// Bytes that may be received beyond what was.
    pub(super) fn receive_room(&self, storage_len: usize) -> u32 {
        self.receive.room(storage_len)
    }

    /// The earliest of its deadlines.
    pub(super) fn deadline(&self) -> Instant {
        let transmission = self.retransmit_at.or_never().min(self.ack_at.or_never());
        transmission
            .min(self.end_at.or_never())
            .min(self.pace_at.or_never())
    }
}
