//! Medium access of IEEE 802.15.4: when a frame may be sent, when it has to be sent again, and which frame came in
//! before.
//!
//! Nothing here holds a packet or a frame: the interface owns its queue and the device's frame, drives [`csma::Csma`]
//! for a device that does no CSMA by itself, and asks [`duplicates::Duplicates`] about each frame that came in.

pub mod csma;
pub mod duplicates;
pub mod timing;
