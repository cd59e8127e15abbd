//! Alarm codes of GT06, and the names that reports have for them. Unknown codes have none.

use super::variant::Family;

/// The alarm in the byte after the signal strength. Some families of models use the same code for another alarm.
pub(super) fn extended_alarm(code: u16, family: Family) -> Option<&'static str> {
    Some(match code {
        0x01 => "sos",
        0x02 => "powerCut",
        0x09 if family == Family::Vl => "tow",
        0x03 | 0x09 => "vibration",
        0x04 => "geofenceEnter",
        0x05 => "geofenceExit",
        0x06 => "overspeed",
        0x18 if family == Family::Lw => "accident",
        0x19 if family == Family::Lw => "hardAcceleration",
        0x0e | 0x0f | 0x19 => "lowBattery",
        0x11 => "powerOff",
        0x0c | 0x13 | 0x25 => "tampering",
        0x14 => "door",
        0x18 => "removing",
        0x28 if family == Family::Seeworld => "hardCornering",
        0x29 if family == Family::Seeworld => "accident",
        0x30 if family == Family::Vl => "hardBraking",
        0x1a | 0x27 | 0x28 => "hardBraking",
        0x1b | 0x2a | 0x2b | 0x2e => "hardCornering",
        0x23 => "fallDown",
        0x26 | 0x29 => "hardAcceleration",
        0x2c => "accident",
        0x30 => "jamming",
        _ => return None,
    })
}

/// The alarm in bits 3 to 5 of the status. On the VXT01, 7 is another alarm.
pub(super) const fn status_alarm(code: u64, vxt01: bool) -> Option<&'static str> {
    Some(match code {
        1 => "vibration",
        2 => "powerCut",
        3 => "lowBattery",
        4 => "sos",
        6 => "geofence",
        7 if vxt01 => "overspeed",
        7 => "removing",
        _ => return None,
    })
}

/// The alarm of a camera. `detailed` is false for short messages without a position, in which code 1 is any alarm.
pub(super) const fn camera_alarm(code: u8, detailed: bool) -> Option<&'static str> {
    Some(match code {
        0x01 if detailed => "sos",
        0x01 => "general",
        0x0e => "lowPower",
        0x76 => "temperature",
        0x80 => "vibration",
        0x87 => "overspeed",
        0x88 => "powerCut",
        0x90 => "hardAcceleration",
        0x91 => "hardBraking",
        0x92 => "hardCornering",
        0x93 => "accident",
        _ => return None,
    })
}

/// The alarm in an event module: a numbered part of messages that are made of modules.
pub(super) const fn module_alarm(code: u8) -> Option<&'static str> {
    Some(match code {
        0x10 => "door",
        0x12 => "removing",
        0x14 => "geofenceEnter",
        0x15 => "geofenceExit",
        0x16 => "temperature",
        0x1a => "lowBattery",
        0x1b => "overspeed",
        0x1c => "powerOn",
        0x1d => "powerOff",
        0x20 => "vibration",
        0x21 => "powerCut",
        0x23 => "tampering",
        _ => return None,
    })
}
