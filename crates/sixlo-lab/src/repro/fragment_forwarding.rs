//! Lenders, Schmidt and Wählisch, "Fragment Forwarding in Lossy Networks", IEEE Access 2021.

use super::ledger::{Claim, Part};
use super::{Findings, Study};

pub mod arithmetic;
mod claims_arithmetic;
mod claims_congestion;
mod claims_forwarding;
mod claims_own;
mod claims_size;
mod figures;
pub mod section_v;
pub mod setups;
#[cfg(test)]
mod tests;
mod view;
mod windows;

/// The study.
pub const STUDY: Study = Study {
    name: "fragment-forwarding",
    title: "Fragment forwarding in lossy networks",
    paper: "M. S. Lenders, T. C. Schmidt, M. Wählisch, \"Fragment Forwarding in Lossy Networks\", IEEE Access 2021: hop-wise \
            reassembly (HWR), direct fragment forwarding (FF, RFC 8930), selective fragment recovery (SFR, RFC 8931) and \
            end-to-end fragmentation (E2E) on 50 nodes of FIT IoT-LAB Lille.",
    choices,
    scenario: setups::scenario,
    watch: windows::watch,
    judge,
    figures: figures::all,
};

fn choices() -> Vec<String> {
    [
        "How far nodes disturb each other on the testbed is not known. One transmission succeeds with 97.5 % up to 6.5 m, as \
         the paper measured; carrier sense and interference reach R = 6.5, 9.75, 13 (the default, which decides a claim) and \
         32 m (everyone). Each claim names the R at which it holds."
            .to_owned(),
        format!(
            "A second medium has path loss with an exponent of {} and no floor loss, fitted so that a frame of 127 bytes \
             succeeds with at least 97.5 % over 6.5 m at 0 dBm (98 % in two-node runs), without shadowing. Nothing else is fitted.",
            setups::FITTED_EXPONENT
        ),
        "Static routes along the tree that the authors published, not along shortest paths.".to_owned(),
        "Computing times are those that the paper measured on its nodes: a device busy for up to 4 ms a frame, 8 ms from the \
         last fragment in to the first fragment out."
            .to_owned(),
        format!(
            "Frames carry the PAN identifier twice, as RIOT sends them: {} bytes are left for 6LoWPAN. Ports are not \
             compressed, which makes 17 bytes of headers at the source, as the fragment counts of the paper show.",
            arithmetic::Frames::Published.payload_len()
        ),
        format!(
            "The MTU of end-to-end fragmentation is the frame's payload and the least that header compression saves: {} \
             bytes.",
            arithmetic::end_to_end_mtu(arithmetic::Frames::Published)
        ),
        "The first fragment of SFR leaves 31 bytes free, as the fragment counts of the paper show.".to_owned(),
        "Section V: the gap of 170 ms keeps any two frames of RFC 8931 apart that a node sends, forwarded ones and \
         acknowledgements included: \"the time an SFR-capable node has to wait between sending either fragments or ACKs\" \
         (section II-E). The ARQ time-out of 2.5 s does not follow round trips, but doubles with each retry up to 10 s (RFC \
         8931 section 6). 4 datagrams under recovery and a send queue of 8 a node, as in the authors' artefact."
            .to_owned(),
        "FF stands for the paper's: no gap, and a fall-back to reassembly. FF by RFC 8930 has the derived gap and none."
            .to_owned(),
    ]
    .to_vec()
}

/// Decides all claims.
fn judge(findings: &Findings<'_>) -> Vec<Claim> {
    let mut claims = claims_arithmetic::all();
    claims.extend(claims_forwarding::all(findings));
    claims.push(claims_congestion::claim(findings));
    claims.push(claims_own::claim(findings));
    claims.push(windows::claim(findings));
    claims.extend(claims_size::all());
    claims.extend(later());
    claims.sort_by_key(|claim| claim.id[1..].parse::<u32>().unwrap_or(u32::MAX));
    claims
}

/// Claims for which something is missing yet.
fn later() -> Vec<Claim> {
    let claim = |id, title, published: &str, why: &str| Claim {
        id,
        title,
        parts: vec![Part::not_measured("all", published, why)],
    };
    vec![claim(
        "F13",
        "Forwarding over a coordinated MAC",
        "open in the paper: TSCH would let FF and SFR pay off",
        "needs TSCH",
    )]
}
