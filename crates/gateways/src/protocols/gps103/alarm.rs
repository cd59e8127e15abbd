//! Alarms by the types of GPS103 sentences.

use crate::alarm::{AlarmTable, Notation, text};

/// Types of sentences.
pub(super) const KIND: AlarmTable = AlarmTable {
    field: "kind of sentence",
    notation: Notation::Text,
    codes: &[
        text("help me", "sos"),
        text("low battery", "lowBattery"),
        text("stockade", "geofence"),
        text("move", "movement"),
        text("speed", "overspeed"),
        text("door alarm", "door"),
        text("ac alarm", "powerCut"),
        text("accident alarm", "accident"),
        text("sensor alarm", "vibration"),
        text("bonnet alarm", "bonnet"),
        text("footbrake alarm", "footBrake"),
        text("DTC", "fault"),
    ],
};

/// The prefix of a type that is followed by a reading.
pub(super) const PREFIX: AlarmTable = AlarmTable {
    field: "beginning of a kind with a reading",
    notation: Notation::Text,
    codes: &[text("T:", "temperature"), text("oil", "fuelLeak")],
};
