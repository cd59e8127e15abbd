//! Alarms by the number of a Meitrack event.

use crate::alarm::{AlarmTable, Notation, number};

/// Events of text and binary messages.
pub(super) const EVENT: AlarmTable = AlarmTable {
    field: "event code",
    notation: Notation::Decimal,
    codes: &[
        number(1, "sos"),
        number(17, "lowBattery"),
        number(18, "lowPower"),
        number(19, "overspeed"),
        number(20, "geofenceEnter"),
        number(21, "geofenceExit"),
        number(22, "powerRestored"),
        number(23, "powerCut"),
        number(36, "tow"),
        number(44, "jamming"),
        number(78, "accident"),
        number(90, "hardCornering"),
        number(91, "hardCornering"),
        number(129, "hardBraking"),
        number(130, "hardAcceleration"),
        number(135, "fatigueDriving"),
    ],
};

/// The alarm name of an event.
pub(super) fn alarm(event: u16) -> Option<&'static str> {
    EVENT.word(event.into())
}
