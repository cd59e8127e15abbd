//! Alarms by the number of a Meitrack event.

/// The alarm word of an event.
pub(super) const fn alarm(event: u16) -> Option<&'static str> {
    Some(match event {
        1 => "sos",
        17 => "lowBattery",
        18 => "lowPower",
        19 => "overspeed",
        20 => "geofenceEnter",
        21 => "geofenceExit",
        22 => "powerRestored",
        23 => "powerCut",
        36 => "tow",
        44 => "jamming",
        78 => "accident",
        90 | 91 => "hardCornering",
        129 => "hardBraking",
        130 => "hardAcceleration",
        135 => "fatigueDriving",
        _ => return None,
    })
}
