//! Alarm words that a message carries as text.

/// Words that phones and webhooks send, as [`crate::alert_name`] reads them.
const WORDS: &[&str] = &[
    "sos",
    "sosCancel",
    "vibration",
    "movement",
    "lowBattery",
    "lowPower",
    "powerCut",
    "powerOff",
    "powerOn",
    "overspeed",
    "hardBraking",
    "hardAcceleration",
    "hardCornering",
    "idle",
    "gpsAntennaCut",
    "geofenceEnter",
    "geofenceExit",
    "geofence",
    "tampering",
    "removing",
    "fallDown",
    "accident",
    "tow",
    "temperature",
    "general",
    "door",
    "jamming",
    "parking",
    "fault",
];

/// The alarm word of this text.
pub(crate) fn alarm_word(text: &str) -> Option<&'static str> {
    WORDS.iter().find(|word| **word == text).copied()
}
