//! Kumar et al., "Performant TCP for Low-Power Wireless Networks", NSDI 2020 (TCPlp).

use super::Study;

mod claims;
mod claims_hops;
mod claims_one_hop;
mod claims_stack;
mod figures;
pub mod model;
mod setups;
#[cfg(test)]
mod tests;
mod watch;

/// The study.
pub const STUDY: Study = Study {
    name: "tcplp",
    title: "TCP for low-power wireless networks",
    paper: "S. Kumar, M. P. Andersen, H.-S. Kim, D. E. Culler, \"Performant TCP for Low-Power Wireless Networks\", NSDI 2020: TCP \
            with segments of several frames over one to four hops of IEEE 802.15.4.",
    choices,
    scenario: setups::scenario,
    watch: watch::watch,
    judge: claims::all,
    figures: figures::all,
};

fn choices() -> Vec<String> {
    [
        "Chains in which a node hears and disturbs its direct neighbours alone: the argument of section 7.2. The air itself loses nothing; \
         what is lost, collides or meets a busy radio.",
        "The radio is an AT86RF23x with software CSMA whose only buffer is filled over SPI at 400 kB/s: frames of 127 bytes then follow \
         each other every 7.2 ms (Fig. 4a), CSMA, acknowledgement and interframe space included. Processors take no time; the slow one \
         beside is as slow as a RIOT node was measured to be by others (Lenders et al. 2021, section IV-C).",
        "The paper does not say how often its link tries. Claims are decided with what the first author published (samkumar/RIOT-OS on GitHub, \
         pkg/openthread): ten attempts at a frame; one that finds the channel busy counts and is followed by another, as in OpenThread, and \
         the delay comes only where an acknowledgement is missing. The standard link beside has the defaults of IEEE 802.15.4: three \
         retries, and a frame that meets a busy channel five times is given up.",
        "Datagrams are put together at every hop; four at a time, the stalest giving way.",
        "Segments of n frames fill them as this stack's headers allow: 5 frames carry 451 bytes of data, the paper's 462. Buffers hold \
         four such segments, also where the segment size varies; beside that, buffers of as many bytes for all sizes.",
        "Where buffers vary, it is the send buffer uplink and the receive buffer downlink (section 6.2); the other end's holds four segments.",
        "Stacks with one segment under way are this one with a send buffer of one segment, without timestamps and selective \
         acknowledgements, once with a peer that is a whole TCP and delays its acknowledgements, once with one of the same kind, whose \
         full receive buffer makes it acknowledge at once.",
        "The retransmission timer is FreeBSD's, the stack that TCPlp took over. ECN is off: no forwarder marks.",
        "Figures of the paper whose values stand in no text or table are not drawn; what is drawn of them are the values that the text gives.",
    ]
    .map(str::to_owned)
    .to_vec()
}
