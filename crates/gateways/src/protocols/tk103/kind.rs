//! What the kind of a TK103 sentence says beside its content.

use crate::report::Report;

/// Sets the alarm or the ignition that a kind stands for. `detail` are the digits after some kinds.
pub(super) fn set_kind(report: &mut Report, kind: &str, detail: &str) {
    let word = match kind {
        "BQ81" => match detail {
            "0" => "lowBattery",
            "1" => "overspeed",
            "2" => "idle",
            "3" => "hardAcceleration",
            "4" => "hardBraking",
            "5" => "temperature",
            _ => return,
        },
        "BO01" => match detail.as_bytes().first() {
            Some(b'0') => "powerCut",
            Some(b'1') => "accident",
            Some(b'2') => "sos",
            Some(b'3') => "vibration",
            Some(b'4') => "lowspeed",
            Some(b'5') => "overspeed",
            Some(b'6') => "geofenceExit",
            _ => return,
        },
        "ZC11" | "DW31" | "DW51" => "movement",
        "ZC12" | "DW32" | "DW52" => "lowBattery",
        "ZC13" | "DW33" | "DW53" => "powerCut",
        "ZC17" | "DW37" | "DW57" => "removing",
        "ZC25" | "DW3E" | "DW5E" => "sos",
        "ZC26" | "DW3F" | "DW5F" => "tampering",
        "ZC27" | "DW40" | "DW60" => "lowPower",
        "ZC15" | "DW35" | "DW55" | "ZC29" | "DW42" | "DW62" => return report.set("ignition", true),
        "ZC16" | "DW36" | "DW56" => return report.set("ignition", false),
        _ => return,
    };
    report.alarm(word);
}
