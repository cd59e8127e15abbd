//! Message codes of inReach devices.

use crate::alarm::{AlarmTable, Notation, numbered_step};
use crate::feed::SosStep;

/// The meaning of a code; none for unknown codes.
pub(super) const fn name(code: i64) -> Option<&'static str> {
    Some(match code {
        0 => "position",
        2 => "locateResponse",
        3 => "freeText",
        4 => "declareSos",
        6 => "confirmSos",
        7 => "cancelSos",
        8 => "referencePoint",
        9 => "checkIn",
        10 => "startTrack",
        11 => "trackInterval",
        12 => "stopTrack",
        13 => "unknownIndex",
        14 => "message1",
        15 => "message2",
        16 => "message3",
        17 => "mapShare",
        20 => "mailCheck",
        21 => "amIAlive",
        24..=63 => "predefinedText",
        64 => "encryptedBinary",
        65 => "pingback",
        66 => "genericBinary",
        67 => "encryptedPinpoint",
        68 => "keyNegotiation",
        69 => "encryptionNack",
        3099 => "quickText",
        _ => return None,
    })
}

/// The meaning of a preset message, whose words Garmin sends only to its recipients.
pub(super) const fn preset(code: i64) -> Option<&'static str> {
    Some(match code {
        9 => "Check-in",
        14 => "Preset message 1",
        15 => "Preset message 2",
        16 => "Preset message 3",
        24..=63 => "Predefined message",
        3099 => "Quick message",
        _ => return None,
    })
}

/// A position that the sender chose on a map, not the position of the device.
pub(super) const REFERENCE_POINT: i64 = 8;
/// Bytes in a format that the owner of the device chose.
pub(super) const GENERIC_BINARY: i64 = 66;

/// Codes that are steps of an emergency.
pub(super) const STEPS: AlarmTable = AlarmTable {
    field: "`messageCode`",
    notation: Notation::Decimal,
    codes: &[
        numbered_step(4, SosStep::Declare),
        numbered_step(6, SosStep::Confirm),
        numbered_step(7, SosStep::Cancel),
    ],
};

/// The step of an emergency that a code stands for.
pub(super) fn sos(code: i64) -> Option<SosStep> {
    u32::try_from(code).ok().and_then(|code| STEPS.step(code))
}

/// Whether the payload of a message with this code is encrypted, so that only the owner of the key can read it.
pub(super) const fn is_encrypted(code: i64) -> bool {
    matches!(code, 64 | 67 | 68 | 69)
}
