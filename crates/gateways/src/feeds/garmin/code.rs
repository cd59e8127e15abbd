//! Message codes of inReach devices.

use crate::feed::SosStep;

/// What a code means; none for codes that are not known.
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

/// A place that the sender chose on a map; not where the device is.
pub(super) const REFERENCE_POINT: i64 = 8;
/// Bytes of the device's own software.
pub(super) const GENERIC_BINARY: i64 = 66;

/// The step of an emergency that a code is.
pub(super) const fn sos(code: i64) -> Option<SosStep> {
    match code {
        4 => Some(SosStep::Declare),
        6 => Some(SosStep::Confirm),
        7 => Some(SosStep::Cancel),
        _ => None,
    }
}

/// Payloads that only the key's owner can read.
pub(super) const fn is_encrypted(code: i64) -> bool {
    matches!(code, 64 | 67 | 68 | 69)
}
