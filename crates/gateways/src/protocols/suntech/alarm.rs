//! Alarms by the numbers of Suntech's emergencies and alerts.

/// The alarm word of an emergency report.
pub(super) const fn emergency(number: u16) -> Option<&'static str> {
    Some(match number {
        1 => "sos",
        2 => "parking",
        3 => "powerCut",
        5 | 6 => "door",
        7 => "movement",
        8 => "vibration",
        _ => return None,
    })
}

/// The alarm word of an alert report.
pub(super) const fn alert(number: u16) -> Option<&'static str> {
    Some(match number {
        1 => "overspeed",
        3 => "gpsAntennaCut",
        5 => "geofenceExit",
        6 => "geofenceEnter",
        14 => "lowBattery",
        15 => "vibration",
        16 => "accident",
        40 => "powerRestored",
        41 => "powerCut",
        46 => "hardAcceleration",
        47 => "hardBraking",
        48 => "hardCornering",
        50 => "jamming",
        _ => return None,
    })
}
