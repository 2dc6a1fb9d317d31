//! Kumar et al., "Performant TCP for Low-Power Wireless Networks", NSDI 2020 (TCPlp).

use super::Study;

mod claims;
mod figures;
pub mod model;
mod setups;
#[cfg(test)]
mod tests;

/// The study.
pub const STUDY: Study = Study {
    name: "tcplp",
    title: "TCP for low-power wireless networks",
    paper: "S. Kumar, M. P. Andersen, H.-S. Kim, D. E. Culler, \"Performant TCP for Low-Power Wireless Networks\", NSDI 2020: TCP \
            with segments of several frames over one to four hops of IEEE 802.15.4.",
    choices,
    scenario: setups::scenario,
    watch: |_, _| Ok(Vec::new()),
    judge: claims::all,
    figures: figures::all,
};

fn choices() -> Vec<String> {
    [
        "Chains in which a node hears and disturbs its direct neighbours alone: the argument of section 7.2. The air itself loses nothing; \
         what is lost, collides or meets a busy radio.",
        "The radio is an AT86RF23x with software CSMA whose only buffer is filled over SPI at 125 kB/s: a frame of 127 bytes then takes \
         about the 7.2 ms of Fig. 4a, CSMA and acknowledgement included. Processors take no time.",
        "The paper does not say how often its link tries. Claims are decided with 7 retries and 5 back-offs, the most that IEEE 802.15.4 allows, \
         for its link (OpenThread's) tries a frame again also where the channel was busy; what the standard's defaults (3 and 4) give stands beside.",
        "Datagrams are put together at every hop; four at a time, the stalest giving way.",
        "Segments of n frames fill them as this stack's headers allow: 5 frames carry a little more than the paper's 462 bytes. Buffers hold \
         four such segments, also where the segment size varies.",
        "The retransmission timer is FreeBSD's, the stack that TCPlp took over. ECN is off: no forwarder marks.",
    ]
    .map(str::to_owned)
    .to_vec()
}
