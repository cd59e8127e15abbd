//! Alarms by the numbers of Teltonika's elements.

use crate::alarm::{AlarmTable, Notation, number, text};

/// Models with a button, on which only the button raises element 236.
pub(super) const BUTTON: &str = "TMT250, GH5200";

/// Elements that are an alarm if they are not 0.
pub(super) const ELEMENTS: AlarmTable = AlarmTable {
    field: "element that is not 0",
    notation: Notation::Decimal,
    codes: &[
        number(236, "general"),
        number(236, "sos").on(BUTTON),
        number(242, "fallDown").on(BUTTON),
        number(246, "tow").on(FMB),
        number(247, "accident").on(FMB),
        number(249, "jamming").on(FMB),
        number(251, "idle").on(FMB),
        number(252, "powerCut").on(FMB),
    ],
};

/// Models for vehicles.
pub(super) const FMB: &str = "FMB, FMC, FMM and later";

/// Values of element 253.
pub(super) const GREEN_DRIVING: AlarmTable = AlarmTable {
    field: "value of element 253",
    notation: Notation::Decimal,
    codes: &[number(1, "hardAcceleration"), number(2, "hardBraking"), number(3, "hardCornering")],
};

/// Element 175 of FMB and later models.
pub(super) const GEOFENCE: AlarmTable = AlarmTable {
    field: "value of element 175",
    notation: Notation::Text,
    codes: &[text("0", "geofenceExit").on(FMB), text("not 0", "geofenceEnter").on(FMB)],
};

/// Elements of GH3000, in its own codec.
pub(super) const GH3000: AlarmTable = AlarmTable {
    field: "element of GH3000 that is 1",
    notation: Notation::Decimal,
    codes: &[number(222, "sos")],
};
