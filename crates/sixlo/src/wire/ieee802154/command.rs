//! MAC commands (IEEE 802.15.4-2020, 7.5): which one a frame's payload holds.

use crate::wire::{ParseError, split};

/// The identifier of a MAC command (table 7-49), the first byte of its frame's payload.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum CommandId {
    /// A device asks to join a PAN.
    AssociationRequest,
    /// A coordinator answers it.
    AssociationResponse,
    /// A device leaves or is made to leave.
    DisassociationNotification,
    /// A device asks a coordinator for data that waits.
    DataRequest,
    /// A device has seen two PANs with one identifier.
    PanIdConflict,
    /// A device has lost its coordinator.
    OrphanNotification,
    /// A device asks for beacons.
    BeaconRequest,
    /// A coordinator tells where its PAN is.
    CoordinatorRealignment,
    /// A device asks for a guaranteed time slot.
    GtsRequest,
    /// Any other command, by its number.
    Other(u8),
}

impl CommandId {
    /// The command whose identifier is `number`.
    pub const fn from_number(number: u8) -> Self {
        match number {
            0x01 => Self::AssociationRequest,
            0x02 => Self::AssociationResponse,
            0x03 => Self::DisassociationNotification,
            0x04 => Self::DataRequest,
            0x05 => Self::PanIdConflict,
            0x06 => Self::OrphanNotification,
            0x07 => Self::BeaconRequest,
            0x08 => Self::CoordinatorRealignment,
            0x09 => Self::GtsRequest,
            other => Self::Other(other),
        }
    }

    /// The identifier as it stands in the frame.
    pub const fn number(self) -> u8 {
        match self {
            Self::AssociationRequest => 0x01,
            Self::AssociationResponse => 0x02,
            Self::DisassociationNotification => 0x03,
            Self::DataRequest => 0x04,
            Self::PanIdConflict => 0x05,
            Self::OrphanNotification => 0x06,
            Self::BeaconRequest => 0x07,
            Self::CoordinatorRealignment => 0x08,
            Self::GtsRequest => 0x09,
            Self::Other(number) => number,
        }
    }

    /// Reads the identifier at the front of a command frame's payload, and gives the command's content.
    ///
    /// # Errors
    ///
    /// [`ParseError::Truncated`] if the payload is empty.
    pub fn parse(payload: &[u8]) -> Result<(Self, &[u8]), ParseError> {
        let (&[number], content) = split::<1>(payload)?;
        Ok((Self::from_number(number), content))
    }
}
