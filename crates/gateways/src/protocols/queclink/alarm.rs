//! Alarms by the types and codes of Queclink messages.

use crate::alarm::{AlarmTable, Notation, number, text};

/// Types of text messages.
pub(super) const KIND: AlarmTable = AlarmTable {
    field: "kind of message after `GT`",
    notation: Notation::Text,
    codes: &[
        text("SOS", "sos"),
        text("SPD", "overspeed"),
        text("TOW", "tow"),
        text("IDL", "idle"),
        text("PNA", "powerOn"),
        text("PFA", "powerOff"),
        text("EPN", "powerRestored"),
        text("MPN", "powerRestored"),
        text("EPF", "powerCut"),
        text("MPF", "powerCut"),
        text("BPL", "lowBattery"),
        text("STT", "movement"),
        text("SWG", "geofence"),
        text("TMP", "temperature"),
        text("TEM", "temperature"),
        text("JDR", "jamming"),
        text("JDS", "jamming"),
    ],
};

/// The last digit of the report type of `GTHBM`.
pub(super) const BEHAVIOUR: AlarmTable = AlarmTable {
    field: "last digit of the report type of `GTHBM`",
    notation: Notation::Decimal,
    codes: &[
        number(0, "hardBraking"),
        number(1, "hardAcceleration"),
        number(2, "hardCornering"),
        number(3, "hardBraking"),
        number(4, "hardAcceleration"),
    ],
};

/// The warning of `GTDAR`.
pub(super) const WARNING: AlarmTable = AlarmTable {
    field: "warning type of `GTDAR`",
    notation: Notation::Decimal,
    codes: &[number(1, "fatigueDriving")],
};

/// Types of binary events.
pub(super) const EVENT: AlarmTable = AlarmTable {
    field: "type of a binary event (`+EVT`)",
    notation: Notation::Decimal,
    codes: &[number(6, "lowBattery"), number(23, "accident"), number(33, "jamming")],
};
