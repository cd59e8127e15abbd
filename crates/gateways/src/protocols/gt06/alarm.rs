//! Alarm codes of GT06.

use crate::alarm::{AlarmTable, Notation, number, text};

use super::variant::{Family, Layout};

const LW: &str = "LW3G, LW4G";
const VL: &str = "VL103, LL303, VL512, G18";
const SEEWORLD: &str = "Seeworld";
const TRX16I: &str = "TRX16i";
const VXT01: &str = "VXT01";
/// Camera alarms without a position.
const SHORT: &str = "short message";

/// The alarm in the byte after the signal strength. In newer messages, four bits of the language byte extend the code.
pub(super) const EXTENDED: AlarmTable = AlarmTable {
    field: "alarm byte after the signal strength",
    notation: Notation::Hexadecimal,
    codes: &[
        number(0x01, "sos"),
        number(0x02, "powerCut"),
        number(0x03, "vibration"),
        number(0x04, "geofenceEnter"),
        number(0x05, "geofenceExit"),
        number(0x06, "overspeed"),
        number(0x09, "vibration"),
        number(0x09, "tow").on(VL),
        number(0x09, "geofence").on(TRX16I),
        number(0x0c, "tampering"),
        number(0x0e, "lowBattery"),
        number(0x0e, "lowPower").on(TRX16I),
        number(0x0f, "lowBattery"),
        number(0x11, "powerOff"),
        number(0x13, "tampering"),
        number(0x14, "door"),
        number(0x18, "removing"),
        number(0x18, "accident").on(LW),
        number(0x19, "lowBattery"),
        number(0x19, "hardAcceleration").on(LW),
        number(0x1a, "hardBraking"),
        number(0x1b, "hardCornering"),
        number(0x23, "fallDown"),
        number(0x25, "tampering"),
        number(0x26, "hardAcceleration"),
        number(0x27, "hardBraking"),
        number(0x28, "hardBraking"),
        number(0x28, "hardCornering").on(SEEWORLD),
        number(0x28, "powerOff").on(VL),
        number(0x29, "hardAcceleration"),
        number(0x29, "accident").on(SEEWORLD),
        number(0x2a, "hardCornering"),
        number(0x2b, "hardCornering"),
        number(0x2c, "accident"),
        number(0x2e, "hardCornering"),
        number(0x30, "jamming"),
        number(0x30, "hardBraking").on(VL),
        number(0x32, "tampering"),
        number(0x33, "lock"),
        number(0x34, "unlock"),
        number(0x53, "fuelLeak"),
        number(0x5b, "temperature"),
        number(0x5c, "temperature"),
        number(0xc9, "idle"),
        number(0xf0, "hardAcceleration"),
        number(0xf1, "hardBraking"),
        number(0xf2, "accident"),
        number(0x107, "jamming"),
        number(0x10b, "jamming"),
    ],
};

/// The alarm in bits 3 to 5 of the status.
pub(super) const STATUS: AlarmTable = AlarmTable {
    field: "bits 3 to 5 of the status",
    notation: Notation::Decimal,
    codes: &[
        number(1, "vibration"),
        number(2, "powerCut"),
        number(3, "lowBattery"),
        number(4, "sos"),
        number(6, "geofence"),
        number(7, "removing"),
        number(7, "overspeed").on(VXT01),
    ],
};

/// The alarm of a camera.
pub(super) const CAMERA: AlarmTable = AlarmTable {
    field: "event of a camera (message 95)",
    notation: Notation::Hexadecimal,
    codes: &[
        number(0x01, "sos"),
        number(0x01, "general").on(SHORT),
        number(0x0e, "lowPower"),
        number(0x76, "temperature"),
        number(0x80, "vibration"),
        number(0x87, "overspeed"),
        number(0x88, "powerCut"),
        number(0x90, "hardAcceleration"),
        number(0x91, "hardBraking"),
        number(0x92, "hardCornering"),
        number(0x93, "accident"),
    ],
};

/// The alarm in an event module: a numbered part of messages that consist of modules.
pub(super) const MODULE: AlarmTable = AlarmTable {
    field: "event module 34 (message 70)",
    notation: Notation::Hexadecimal,
    codes: &[
        number(0x10, "door"),
        number(0x12, "removing"),
        number(0x14, "geofenceEnter"),
        number(0x15, "geofenceExit"),
        number(0x16, "temperature"),
        number(0x1a, "lowBattery"),
        number(0x1b, "overspeed"),
        number(0x1c, "powerOn"),
        number(0x1d, "powerOff"),
        number(0x20, "vibration"),
        number(0x21, "powerCut"),
        number(0x23, "tampering"),
    ],
};

/// The status of an AZ735 in its alarm.
pub(super) const AZ735: AlarmTable = AlarmTable {
    field: "status of an AZ735 (long message 33)",
    notation: Notation::Hexadecimal,
    codes: &[
        number(0xa2, "lowBattery"),
        number(0xa3, "lowBattery"),
        number(0xa4, "general"),
        number(0xa5, "door"),
    ],
};

/// The alarm byte after the card of a `WeTrust` unit.
pub(super) const CARD: AlarmTable = AlarmTable {
    field: "alarm byte after the card (WeTrust)",
    notation: Notation::Text,
    codes: &[text("not 0", "general")],
};

/// The alarm in the byte after the signal strength. Some models use a code for a different alarm.
pub(super) fn extended_alarm(code: u16, family: Family, layout: Layout) -> Option<&'static str> {
    let models = match (layout, family) {
        (Layout::Trx16i, _) => TRX16I,
        (_, Family::Lw) => LW,
        (_, Family::Vl) => VL,
        (_, Family::Seeworld) => SEEWORLD,
        _ => "",
    };
    EXTENDED.word_on(code.into(), models)
}

/// The alarm in the status.
pub(super) fn status_alarm(code: u64, layout: Layout) -> Option<&'static str> {
    let models = if layout == Layout::Vxt01 { VXT01 } else { "" };
    STATUS.word_on(u32::try_from(code).unwrap_or(0), models)
}

/// The alarm of a camera. `detailed` is false for short messages without a position, in which code 1 means any alarm.
pub(super) fn camera_alarm(code: u8, detailed: bool) -> Option<&'static str> {
    CAMERA.word_on(code.into(), if detailed { "" } else { SHORT })
}
