//! Alarms by the numbers of Suntech's emergencies and alerts.

use crate::alarm::{AlarmTable, Notation, number, text};

/// The reasons of an emergency report.
pub(super) const EMERGENCY: AlarmTable = AlarmTable {
    field: "reason of `EMG`",
    notation: Notation::Decimal,
    codes: &[
        number(1, "sos"),
        number(2, "parking"),
        number(3, "powerCut"),
        number(5, "door"),
        number(6, "door"),
        number(7, "movement"),
        number(8, "vibration"),
    ],
};

/// The numbers of an alert report, in lines and in binary frames.
pub(super) const ALERT: AlarmTable = AlarmTable {
    field: "number of `ALT`",
    notation: Notation::Decimal,
    codes: &[
        number(1, "overspeed"),
        number(3, "gpsAntennaCut"),
        number(5, "geofenceExit"),
        number(6, "geofenceEnter"),
        number(14, "lowBattery"),
        number(15, "vibration"),
        number(16, "accident"),
        number(40, "powerRestored"),
        number(41, "powerCut"),
        number(42, "sos"),
        number(46, "hardAcceleration"),
        number(47, "hardBraking"),
        number(48, "hardCornering"),
        number(50, "jamming"),
        number(132, "door"),
    ],
};

/// The types of lines of ST9 units, which people and animals carry. `Emergency` means that the button was pressed.
pub(super) const COLLAR: AlarmTable = AlarmTable {
    field: "kind of line of ST9 units",
    notation: Notation::Text,
    codes: &[text("Emergency", "sos"), text("Alert", "general")],
};

/// The alarm name of an emergency report.
pub(super) fn emergency(number: u16) -> Option<&'static str> {
    EMERGENCY.word(number.into())
}

/// The alarm name of an alert report.
pub(super) fn alert(number: u16) -> Option<&'static str> {
    ALERT.word(number.into())
}
