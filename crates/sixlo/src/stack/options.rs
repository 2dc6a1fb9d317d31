//! Options by name: what can be read and changed while a stack runs (GNRC's netopt, Lenders 2016, section 4.5).

use super::Stack;
use crate::congure::Kind;
use crate::lowpan::{Eviction, Gap, REMEMBER_MAX, Strategy, TIMEOUT_MAX};
use crate::netdev::IfaceId;
use crate::netif::{MTU, Mark, Red};
use crate::time::Duration;
use crate::trace::Reason;

/// What an option belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// The stack as a whole.
    Stack,
    /// An interface.
    Iface(IfaceId),
}

/// The value of an option: a number, whose unit the option's name ends with if it has one.
pub type Value = u64;

/// Why an option could not be read or changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OptionError {
    /// The option does not belong to this target, or there is no such interface.
    NotHere,
    /// The option can only be read.
    ReadOnly,
    /// The value is out of range.
    Range,
    /// The value names a strategy that is not compiled in.
    NotBuilt,
}

/// Declares the options, each with its name.
macro_rules! options {
    ($($(#[$doc:meta])* $variant:ident => $name:literal,)*) => {
        /// An option.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Opt {
            $($(#[$doc])* $variant,)*
            /// Of the stack: packets and frames dropped for this reason. Read only.
            Drops(Reason),
        }

        impl Opt {
            /// All options but [`Drops`](Self::Drops), of which there is one for each of [`Reason::ALL`].
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The option's name; that of [`Drops`](Self::Drops) is the reason's.
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                    Self::Drops(reason) => reason.name(),
                }
            }
        }
    };
}

options! {
    /// Of an interface: the PAN identifier.
    Pan => "pan",
    /// Of an interface: the short address; 0xffff for none.
    ShortAddress => "short-address",
    /// Of an interface: frames are sent from the short address (0 or 1).
    SendFromShort => "send-from-short",
    /// Of an interface: packets that may wait behind the one being sent.
    QueueCapacity => "queue-capacity",
    /// Of an interface: packets that wait behind the one being sent. Read only.
    QueueLen => "queue-len",
    /// Of an interface: `macMinBe`.
    CsmaMinBe => "csma-min-be",
    /// Of an interface: `macMaxBe`, at most 8.
    CsmaMaxBe => "csma-max-be",
    /// Of an interface: `macMaxCsmaBackoffs`.
    CsmaMaxBackoffs => "csma-max-backoffs",
    /// Of an interface: `macMaxFrameRetries`.
    CsmaMaxRetries => "csma-max-retries",
    /// Of an interface: the longest random delay before a link retry.
    RetryDelayMax => "retry-delay-max-us",
    /// Of an interface: an attempt that found the channel always busy is followed by another (0 or 1).
    RetryBusy => "retry-busy",
    /// Of an interface: what becomes of datagrams that no frame holds: the place in `lowpan::Strategy::ALL`.
    Strategy => "strategy",
    /// Of an interface: the time between frames with fragments; the largest value for the derived one.
    FragmentGap => "fragment-gap-us",
    /// Of an interface: the largest IPv6 packet, 56 to 1280; below 1280 an experiment.
    Mtu => "mtu-bytes",
    /// Of an interface: when packets are marked because they meet congestion: the place in `netif::Mark::ALL`.
    Mark => "mark",
    /// Of an interface, for random early detection: the average queue from which on packets are marked, in percent of its
    /// capacity.
    RedMin => "red-min-percent",
    /// Of an interface, for random early detection: the average queue from which on all are, in percent of its capacity.
    RedMax => "red-max-percent",
    /// Of an interface, for random early detection: each packet counts for 2^-n in the average, 0 to 10.
    RedWeight => "red-weight-shift",
    /// Of an interface, for random early detection: how likely a mark is just before all are marked, in percent.
    RedProbability => "red-probability-percent",
    /// Of an interface, for marks by the time in its queue: how long a packet may wait.
    MarkWait => "mark-wait-us",
    /// Of an interface: frames that came in and were taken. Read only.
    FramesIn => "frames-in",
    /// Of an interface: frames handed to the device for the first time. Read only.
    FramesOut => "frames-out",
    /// Of an interface: transmissions on the air, retries included. Read only.
    Transmissions => "transmissions",
    /// Of an interface: transmissions after the first of a frame. Read only.
    Retransmissions => "retransmissions",
    /// Of an interface: channel assessments that found the channel busy. Read only.
    ChannelBusy => "channel-busy",
    /// Of an interface: frames given up for want of an acknowledgement. Read only.
    FramesNoAck => "frames-no-ack",
    /// Of an interface: frames given up because the channel was always busy. Read only.
    FramesChannelBusy => "frames-channel-busy",
    /// Of an interface: acknowledgements that fitted no frame. Read only.
    StrayAcks => "stray-acks",
    /// Of the stack: how long a reassembly may take, at most 60 s (RFC 4944 section 5.3).
    ReassemblyTimeout => "reassembly-timeout-us",
    /// Of the stack: how long a finished reassembly is remembered.
    ReassemblyRemember => "reassembly-remember-us",
    /// Of the stack: a full reassembly table evicts (1) or refuses (0).
    ReassemblyEviction => "reassembly-eviction",
    /// Of the stack: reassemblies that are under way. Read only.
    Reassemblies => "reassemblies",
    /// Of the stack: what cannot be forwarded by its fragments is put together (0 or 1).
    ForwardFallback => "forward-fallback",
    /// Of the stack: how long a datagram that is forwarded by its fragments is remembered.
    ForwardTimeout => "forward-timeout-us",
    /// Of the stack: datagrams that are forwarded by their fragments. Read only.
    Forwards => "forwards",
    /// Of the stack: datagrams that were put together because they could not be forwarded by their fragments. Read only.
    Fallbacks => "forward-fallbacks",
    /// Of the stack: datagrams that it sends in recoverable fragments. Read only.
    Transfers => "transfers",
    /// Of the stack: recoverable fragments that may be under way without congestion control, 1 to 32.
    RecoverWindow => "recover-window",
    /// Of the stack: the time-out of an acknowledgement before a round-trip time is known (OptARQTimeOut).
    RecoverTimeout => "recover-arq-timeout-us",
    /// Of the stack: the least time-out (MinARQTimeOut).
    RecoverTimeoutMin => "recover-arq-timeout-min-us",
    /// Of the stack: the greatest time-out (MaxARQTimeOut).
    RecoverTimeoutMax => "recover-arq-timeout-max-us",
    /// Of the stack: the time-out follows the measured round-trip times (0 or 1).
    RecoverAdaptive => "recover-adaptive",
    /// Of the stack: how often one fragment is sent again, 0 to 7 (MaxFragRetries).
    RecoverFragmentRetries => "recover-fragment-retries",
    /// Of the stack: how often a datagram is begun anew (MaxDatagramRetries).
    RecoverDatagramRetries => "recover-datagram-retries",
    /// Of the stack: bytes that the first fragment leaves free for headers that grow.
    RecoverSlack => "recover-slack-bytes",
    /// Of the stack: congestion control of recoverable fragments: 0 for none, else the place in `congure::Kind::ALL` from 1
    /// on.
    RecoverControl => "recover-control",
    /// Of the stack: congestion that fragments met is reported to it (0 or 1, UseECN).
    RecoverEcn => "recover-ecn",
    /// Of the stack: how long a datagram that was received in full is remembered.
    RecoverLinger => "recover-linger-us",
    /// Of the stack: packets for others are forwarded (0 or 1).
    Forwarding => "forwarding",
    /// Of the stack: the hop limit of packets that start here, 1 to 255 ("hop-limit" is the drop counter).
    HopLimit => "default-hop-limit",
    /// Of the stack: echo requests are answered (0 or 1).
    AnswerEcho => "answer-echo",
    /// Of the stack: the mean time between two ICMPv6 errors.
    ErrorInterval => "icmpv6-error-interval-us",
    /// Of the stack: ICMPv6 errors that may be sent at once.
    ErrorBurst => "icmpv6-error-burst",
    /// Of the stack: bytes of the packet buffer that are taken. Read only.
    BufferUsed => "buffer-used-bytes",
    /// Of the stack: the most bytes of the packet buffer that were ever taken. Read only.
    BufferHighWater => "buffer-high-water-bytes",
    /// Of the stack: packets that live. Read only.
    Packets => "packets",
}

impl Opt {
    /// The option with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let known = Self::ALL.iter().copied().find(|option| option.name() == name);
        let reason = || Reason::ALL.iter().copied().find(|reason| reason.name() == name);
        known.or_else(|| reason().map(Self::Drops))
    }
}

impl Stack<'_> {
    /// Reads an option.
    ///
    /// # Errors
    ///
    /// If the option does not belong to the target.
    pub fn get(&self, target: Target, option: Opt) -> Result<Value, OptionError> {
        match target {
            Target::Iface(iface) => self.get_of_iface(iface, option),
            Target::Stack => self.get_of_stack(option),
        }
    }

    /// Changes an option.
    ///
    /// # Errors
    ///
    /// If the option does not belong to the target, cannot be changed, or not to this value.
    pub fn set(&mut self, target: Target, option: Opt, value: Value) -> Result<(), OptionError> {
        self.get(target, option)?;
        match target {
            Target::Iface(iface) => self.set_of_iface(iface, option, value),
            Target::Stack => self.set_of_stack(option, value),
        }
    }

    fn get_of_iface(&self, iface: IfaceId, option: Opt) -> Result<Value, OptionError> {
        let netif = &self.modules.netif;
        let config = netif.config(iface).ok_or(OptionError::NotHere)?;
        let counters = netif.counters(iface).ok_or(OptionError::NotHere)?;
        let csma = &config.csma.params;
        Ok(match option {
            Opt::Pan => config.pan.into(),
            Opt::ShortAddress => config.short.unwrap_or(0xffff).into(),
            Opt::SendFromShort => config.send_from_short.into(),
            Opt::QueueCapacity => config.queue_capacity.into(),
            Opt::QueueLen => netif.queue_len(iface) as u64,
            Opt::CsmaMinBe => csma.min_be.into(),
            Opt::CsmaMaxBe => csma.max_be.into(),
            Opt::CsmaMaxBackoffs => csma.max_backoffs.into(),
            Opt::CsmaMaxRetries => csma.max_retries.into(),
            Opt::RetryDelayMax => csma.retry_delay_max.as_micros(),
            Opt::RetryBusy => csma.retry_busy.into(),
            Opt::Strategy => config.strategy as Value,
            Opt::FragmentGap => match config.fragment_gap {
                Gap::Derived => Value::MAX,
                Gap::Fixed(gap) => gap.as_micros(),
            },
            Opt::Mtu => config.mtu.into(),
            Opt::Mark => config.mark.when as Value,
            Opt::RedMin => config.mark.red.min_percent.into(),
            Opt::RedMax => config.mark.red.max_percent.into(),
            Opt::RedWeight => config.mark.red.weight_shift.into(),
            Opt::RedProbability => config.mark.red.probability_percent.into(),
            Opt::MarkWait => config.mark.wait_max.as_micros(),
            Opt::FramesIn => counters.frames_in.into(),
            Opt::FramesOut => counters.frames_out.into(),
            Opt::Transmissions => counters.transmissions.into(),
            Opt::Retransmissions => counters.retransmissions.into(),
            Opt::ChannelBusy => counters.busy.into(),
            Opt::FramesNoAck => counters.no_ack.into(),
            Opt::FramesChannelBusy => counters.channel_busy.into(),
            Opt::StrayAcks => counters.stray_acks.into(),
            _ => return Err(OptionError::NotHere),
        })
    }

    fn set_of_iface(&mut self, iface: IfaceId, option: Opt, value: Value) -> Result<(), OptionError> {
        let config = self.modules.netif.config_mut(iface).ok_or(OptionError::NotHere)?;
        let csma = &mut config.csma.params;
        match option {
            Opt::Pan => config.pan = within(value, 0xfffe)? as u16,
            Opt::ShortAddress => {
                let short = within(value, 0xffff)? as u16;
                config.short = (short != 0xffff).then_some(short);
            }
            Opt::SendFromShort => config.send_from_short = flag(value)?,
            Opt::QueueCapacity => config.queue_capacity = within(value, 0xffff)? as u16,
            Opt::CsmaMinBe => csma.min_be = within(value, csma.max_be.into())? as u8,
            // IEEE 802.15.4-2020, table 8-94: 3 to 8.
            Opt::CsmaMaxBe if value < csma.min_be.into() => return Err(OptionError::Range),
            Opt::CsmaMaxBe => csma.max_be = within(value, 8)? as u8,
            Opt::CsmaMaxBackoffs => csma.max_backoffs = within(value, 0xff)? as u8,
            Opt::CsmaMaxRetries => csma.max_retries = within(value, 0xff)? as u8,
            Opt::RetryDelayMax => csma.retry_delay_max = Duration::from_micros(value),
            Opt::RetryBusy => csma.retry_busy = flag(value)?,
            // The smallest takes a fragment with eight bytes (RFC 8200 section 4.5).
            Opt::Mtu if value < 56 => return Err(OptionError::Range),
            Opt::Mtu => config.mtu = within(value, MTU.into())? as u16,
            Opt::Strategy => {
                let strategy = usize::try_from(value).ok().and_then(|at| Strategy::ALL.get(at));
                let strategy = *strategy.ok_or(OptionError::Range)?;
                if !strategy.is_here() {
                    return Err(OptionError::NotBuilt);
                }
                config.strategy = strategy;
            }
            Opt::FragmentGap => {
                config.fragment_gap = match value {
                    Value::MAX => Gap::Derived,
                    gap => Gap::Fixed(Duration::from_micros(gap)),
                };
            }
            _ => return self.set_of_mark(iface, option, value),
        }
        Ok(())
    }

    fn set_of_mark(&mut self, iface: IfaceId, option: Opt, value: Value) -> Result<(), OptionError> {
        let netif = &mut self.modules.netif;
        let mut mark = netif.config(iface).ok_or(OptionError::NotHere)?.mark;
        let red = &mut mark.red;
        match option {
            Opt::Mark => {
                let when = usize::try_from(value).ok().and_then(|at| Mark::ALL.get(at));
                mark.when = *when.ok_or(OptionError::Range)?;
            }
            Opt::RedMin => red.min_percent = within(value, red.max_percent.into())? as u8,
            Opt::RedMax if value < red.min_percent.into() => return Err(OptionError::Range),
            Opt::RedMax => red.max_percent = within(value, 100)? as u8,
            Opt::RedWeight => red.weight_shift = within(value, Red::WEIGHT_SHIFT_MAX.into())? as u8,
            Opt::RedProbability => red.probability_percent = within(value, 100)? as u8,
            Opt::MarkWait => mark.wait_max = Duration::from_micros(value),
            _ => return Err(OptionError::ReadOnly),
        }
        netif.set_mark(iface, mark);
        Ok(())
    }

    fn get_of_stack(&self, option: Opt) -> Result<Value, OptionError> {
        let (modules, buf) = (&self.modules, &self.core.buf);
        let reassembly = modules.lowpan.reassembly_config();
        Ok(match option {
            Opt::ReassemblyTimeout => reassembly.timeout.as_micros(),
            Opt::ReassemblyRemember => reassembly.remember.as_micros(),
            Opt::ReassemblyEviction => (reassembly.eviction == Eviction::Stalest).into(),
            Opt::Reassemblies => modules.lowpan.reassemblies() as u64,
            Opt::ForwardFallback => modules.lowpan.forward_config().fallback.into(),
            Opt::ForwardTimeout => modules.lowpan.forward_config().timeout.as_micros(),
            Opt::Forwards => modules.lowpan.forwards_under_way() as u64,
            Opt::Transfers => modules.lowpan.transfers() as u64,
            Opt::Fallbacks => modules.lowpan.fallbacks().into(),
            Opt::Forwarding => modules.ipv6.config().forwarding.into(),
            Opt::HopLimit => modules.ipv6.config().hop_limit.into(),
            Opt::AnswerEcho => modules.icmpv6.config().answer_echo.into(),
            Opt::ErrorInterval => modules.icmpv6.config().error_interval.as_micros(),
            Opt::ErrorBurst => modules.icmpv6.config().error_burst.into(),
            Opt::BufferUsed => buf.used() as u64,
            Opt::BufferHighWater => buf.high_water() as u64,
            Opt::Packets => buf.live() as u64,
            Opt::Drops(reason) => self.core.drops(reason).into(),
            _ => return self.get_of_recovery(option),
        })
    }

    /// RFC 8931 section 7.1.
    fn get_of_recovery(&self, option: Opt) -> Result<Value, OptionError> {
        let config = self.modules.lowpan.recover_config();
        Ok(match option {
            Opt::RecoverWindow => config.window.into(),
            Opt::RecoverTimeout => config.arq_timeout.as_micros(),
            Opt::RecoverTimeoutMin => config.arq_timeout_min.as_micros(),
            Opt::RecoverTimeoutMax => config.arq_timeout_max.as_micros(),
            Opt::RecoverAdaptive => config.adaptive.into(),
            Opt::RecoverFragmentRetries => config.fragment_retries.into(),
            Opt::RecoverDatagramRetries => config.datagram_retries.into(),
            Opt::RecoverSlack => config.slack_len.into(),
            Opt::RecoverControl => config.control.map_or(0, |kind| kind as Value + 1),
            Opt::RecoverEcn => config.ecn.into(),
            Opt::RecoverLinger => config.linger.as_micros(),
            _ => return Err(OptionError::NotHere),
        })
    }

    fn set_of_recovery(&mut self, option: Opt, value: Value) -> Result<(), OptionError> {
        let mut config = *self.modules.lowpan.recover_config();
        match option {
            Opt::RecoverWindow if value == 0 => return Err(OptionError::Range),
            Opt::RecoverWindow => config.window = within(value, 32)? as u8,
            Opt::RecoverTimeout => config.arq_timeout = Duration::from_micros(value),
            Opt::RecoverTimeoutMin => config.arq_timeout_min = Duration::from_micros(value),
            Opt::RecoverTimeoutMax => config.arq_timeout_max = Duration::from_micros(value),
            Opt::RecoverAdaptive => config.adaptive = flag(value)?,
            Opt::RecoverFragmentRetries => config.fragment_retries = within(value, 7)? as u8,
            Opt::RecoverDatagramRetries => config.datagram_retries = within(value, 0xff)? as u8,
            Opt::RecoverSlack => config.slack_len = within(value, 0xff)? as u8,
            Opt::RecoverControl => {
                config.control = match value.checked_sub(1) {
                    None => None,
                    Some(place) => {
                        let kind = usize::try_from(place).ok().and_then(|at| Kind::ALL.get(at));
                        Some(*kind.ok_or(OptionError::Range)?)
                    }
                };
            }
            Opt::RecoverEcn => config.ecn = flag(value)?,
            Opt::RecoverLinger => config.linger = Duration::from_micros(value),
            _ => return Err(OptionError::ReadOnly),
        }
        self.modules.lowpan.set_recover_config(config);
        Ok(())
    }

    fn set_of_stack(&mut self, option: Opt, value: Value) -> Result<(), OptionError> {
        let modules = &mut self.modules;
        let mut reassembly = modules.lowpan.reassembly_config();
        let mut forward = modules.lowpan.forward_config();
        match option {
            Opt::ReassemblyTimeout => {
                reassembly.timeout = Duration::from_micros(within(value, TIMEOUT_MAX.as_micros())?);
            }
            Opt::ReassemblyRemember => {
                reassembly.remember = Duration::from_micros(within(value, REMEMBER_MAX.as_micros())?);
            }
            Opt::ReassemblyEviction => {
                reassembly.eviction = if flag(value)? {
                    Eviction::Stalest
                } else {
                    Eviction::Never
                };
            }
            Opt::ForwardFallback => forward.fallback = flag(value)?,
            Opt::ForwardTimeout => forward.timeout = Duration::from_micros(value),
            Opt::Forwarding => modules.ipv6.config_mut().forwarding = flag(value)?,
            Opt::HopLimit if value == 0 => return Err(OptionError::Range),
            Opt::HopLimit => modules.ipv6.config_mut().hop_limit = within(value, 0xff)? as u8,
            Opt::AnswerEcho => modules.icmpv6.config_mut().answer_echo = flag(value)?,
            Opt::ErrorInterval => modules.icmpv6.config_mut().error_interval = Duration::from_micros(value),
            Opt::ErrorBurst => modules.icmpv6.config_mut().error_burst = within(value, 0xff)? as u8,
            _ => return self.set_of_recovery(option, value),
        }
        modules.lowpan.set_reassembly_config(reassembly);
        modules.lowpan.set_forward_config(forward);
        Ok(())
    }
}

fn within(value: Value, max: Value) -> Result<Value, OptionError> {
    if value <= max {
        Ok(value)
    } else {
        Err(OptionError::Range)
    }
}

fn flag(value: Value) -> Result<bool, OptionError> {
    within(value, 1).map(|value| value == 1)
}
