//! How frames travel from antenna to antenna.

use serde::{Deserialize, Serialize};

/// The model of the medium.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Medium {
    /// `[medium.disc]`: frames reach as far as a circle, and disturb as far as another.
    Disc(Disc),
    /// `[medium.log-distance]`: path loss with shadowing, interference and bit errors.
    LogDistance(LogDistance),
    /// `[medium.links]`: a delivery ratio for each link.
    Links(LinkMatrix),
}

impl Default for Medium {
    fn default() -> Self {
        Self::Disc(Disc::default())
    }
}

/// Unit disc: within `range_m` a frame arrives unless it collides or the frame error rate strikes; within
/// `interference_range_m` a transmission is sensed, and destroys what overlaps it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Disc {
    /// How far frames can be received, in metres. Default 6.5 (the longest link of Lenders et al. 2021, section IV).
    pub range_m: f64,
    /// How far they are sensed and disturb, in metres. Default 13: twice the range.
    pub interference_range_m: f64,
    /// The share of frames that are lost on a link although nothing disturbs them. Default 0.025 (the links of Lenders
    /// et al. 2021, section IV, deliver 97.5 %).
    pub frame_error_rate: f64,
    /// How the frame error rate grows with the distance. Default `"constant"`.
    pub error_growth: ErrorGrowth,
    /// Acknowledgements suffer the frame error rate too. Default false: the rate is that of one attempt.
    pub ack_errors: bool,
}

impl Default for Disc {
    fn default() -> Self {
        Self {
            range_m: 6.5,
            interference_range_m: 13.0,
            frame_error_rate: 0.025,
            error_growth: ErrorGrowth::Constant,
            ack_errors: false,
        }
    }
}

/// How a frame error rate depends on the distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ErrorGrowth {
    /// `"constant"`: the same at every distance within range.
    #[default]
    Constant,
    /// `"quadratic"`: it grows with the square of the distance up to the given rate at the edge of the range, as in
    /// the unit-disc model of Cooja.
    Quadratic,
}

/// Log-distance path loss with shadowing per link, SINR over the segments of a frame, and the bit error rate of
/// 2.4 GHz O-QPSK (IEEE 802.15.4-2006, annex E.4.1.8).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LogDistance {
    /// Transmission power in dBm. Default 0.
    pub tx_power_dbm: f64,
    /// Path loss at 1 m in dB. Default 40.2 (free space at 2.45 GHz).
    pub loss_1m_db: f64,
    /// Path loss exponent. Default 3.0 (indoor office, ITU-R P.1238).
    pub exponent: f64,
    /// Extra loss of a link whose ends are on different levels, in dB. Default 0.
    pub floor_loss_db: f64,
    /// Standard deviation of the shadowing of a pair of nodes, drawn once from the seed, in dB. Default 5.
    pub shadowing_db: f64,
    /// Standard deviation of the difference between the two directions of a pair, in dB. Default 1.
    pub asymmetry_db: f64,
    /// Standard deviation of the fading that each frame meets at each receiver, in dB. Default 1.5.
    pub fading_db: f64,
    /// Thermal noise and noise figure in dBm. Default -105 (kTB of 2 MHz is -111, noise figure 6 dB).
    pub noise_dbm: f64,
    /// The weakest signal that a receiver locks on, in dBm. Default -101 (AT86RF231 data sheet).
    pub sensitivity_dbm: f64,
    /// The channel is busy if the energy is above this, in dBm. Default -75 (at most 10 dB over the sensitivity of -85
    /// that the standard asks for, IEEE 802.15.4-2020, 10.2.8).
    pub cca_threshold_dbm: f64,
    /// A receiver locks on a frame whose SINR at its start is at least this, in dB. Default -5.
    pub lock_sinr_db: f64,
    /// A frame this much stronger than the one whose preamble is being received captures the receiver, in dB.
    /// Default 3. Without a value nothing captures it.
    pub capture_db: Option<f64>,
    /// A pair of nodes is linked (for shortest paths) if its frame success at 127 bytes without interference is at
    /// least this. Default 0.9.
    pub link_success_min: f64,
}

impl Default for LogDistance {
    fn default() -> Self {
        Self {
            tx_power_dbm: 0.0,
            loss_1m_db: 40.2,
            exponent: 3.0,
            floor_loss_db: 0.0,
            shadowing_db: 5.0,
            asymmetry_db: 1.0,
            fading_db: 1.5,
            noise_dbm: -105.0,
            sensitivity_dbm: -101.0,
            cca_threshold_dbm: -75.0,
            lock_sinr_db: -5.0,
            capture_db: Some(3.0),
            link_success_min: 0.9,
        }
    }
}

/// A delivery ratio for each link. Nodes that share a link sense and disturb each other; others do not.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct LinkMatrix {
    /// The links: tables `[[medium.links.link]]`.
    #[serde(rename = "link")]
    pub links: Vec<LinkQuality>,
    /// Acknowledgements are lost by the delivery ratio too. Default false: the ratio is that of one attempt.
    pub ack_errors: bool,
}

/// One link.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkQuality {
    /// The number of the node that sends.
    pub from: u16,
    /// The number of the node that receives.
    pub to: u16,
    /// The share of frames that arrive if nothing disturbs them, 0 to 1. With 0 the nodes only sense and disturb each
    /// other.
    pub delivery_ratio: f64,
    /// The same holds in the other direction. Default true.
    #[serde(default = "both_ways")]
    pub both_ways: bool,
}

const fn both_ways() -> bool {
    true
}
