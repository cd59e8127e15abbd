//! Alarm bits and codes of JT/T 808: those of the standard, and those that makers add.

use crate::alarm::{AlarmTable, Notation, number};

/// Bits of the alarm name that every position has.
pub(super) const STANDARD: AlarmTable = AlarmTable {
    field: "bits of the alarm word of a position",
    notation: Notation::Bit,
    codes: &[
        number(0, "sos"),
        number(1, "overspeed"),
        number(2, "fatigueDriving"),
        number(5, "gpsAntennaCut"),
        number(6, "gpsAntennaCut"),
        number(4, "fault"),
        number(9, "fault"),
        number(10, "fault"),
        number(11, "fault"),
        number(7, "lowBattery"),
        number(18, "lowBattery"),
        number(8, "powerOff"),
        number(15, "vibration"),
        number(16, "tampering"),
        number(17, "tampering"),
        number(19, "parking"),
        number(20, "geofence"),
        number(26, "general"),
        number(28, "movement"),
        number(29, "accident"),
        number(30, "accident"),
    ],
};

/// Bits of the alarm name of padlocks.
pub(super) const PADLOCK: AlarmTable = AlarmTable {
    field: "bits of the alarm word of G-360P and G-508P",
    notation: Notation::Bit,
    codes: &[number(0, "removing"), number(4, "removing"), number(1, "tampering")],
};

/// Bits of the alarm name of AOVX's asset trackers.
pub(super) const AOVX: AlarmTable = AlarmTable {
    field: "bits of the alarm word of AL300 and GL100",
    notation: Notation::Bit,
    codes: &[number(16, "movement")],
};

/// Element 0x57 of a position.
pub(super) const DRIVING: AlarmTable = AlarmTable {
    field: "bits of element 57",
    notation: Notation::Bit,
    codes: &[number(8, "hardAcceleration"), number(9, "hardBraking"), number(10, "hardCornering")],
};

/// The further states of element 0x57, on Micodus' units with a door.
pub(super) const DOOR: AlarmTable = AlarmTable {
    field: "further bits of element 57, on MV710G and MV810G",
    notation: Notation::Bit,
    codes: &[number(16, "door")],
};

/// Element 0x70 of a position.
pub(super) const MOTION: AlarmTable = AlarmTable {
    field: "alarm of element 70",
    notation: Notation::Hexadecimal,
    codes: &[
        number(0x01, "hardAcceleration"),
        number(0x02, "hardBraking"),
        number(0x03, "hardCornering"),
        number(0x16, "accident"),
    ],
};

/// Element 0xD0 of a position.
pub(super) const SENSOR: AlarmTable =
    AlarmTable { field: "bits of element D0", notation: Notation::Bit, codes: &[number(3, "vibration")] };

/// Element 0xE7 of eight bytes: the three buttons are three bits.
pub(super) const BUTTONS: AlarmTable = AlarmTable {
    field: "bits of element E7",
    notation: Notation::Bit,
    codes: &[number(0, "vibration"), number(1, "sos"), number(2, "sos"), number(3, "sos")],
};

/// Element 0xE8 of Jimi's cameras.
pub(super) const CAMERA: AlarmTable = AlarmTable {
    field: "event of element E8 (cameras)",
    notation: Notation::Hexadecimal,
    codes: &[
        number(0x0001, "fault"),
        number(0x0400, "hardAcceleration"),
        number(0x0412, "hardAcceleration"),
        number(0x0401, "hardBraking"),
        number(0x0413, "hardBraking"),
        number(0x0402, "hardCornering"),
        number(0x0414, "hardCornering"),
        number(0x0403, "overspeed"),
        number(0x0405, "accident"),
        number(0x0416, "accident"),
        number(0x0417, "accident"),
        number(0x0406, "vibration"),
        number(0x0407, "tow"),
        number(0x0408, "geofenceEnter"),
        number(0x0409, "geofenceExit"),
        number(0x040c, "door"),
        number(0x0415, "laneChange"),
        number(0x0c01, "sos"),
        number(0x0c02, "lowPower"),
        number(0x0c05, "general"),
        number(0x0c0e, "powerCut"),
        number(0x0c0f, "lowBattery"),
        number(0x0c10, "powerOff"),
        number(0x0c12, "tampering"),
    ],
};

/// Alarms of element 0xEB. A bit that is 0 is an alarm.
pub(super) const LISTED: AlarmTable = AlarmTable {
    field: "bits of part 89 of element EB that are 0",
    notation: Notation::Bit,
    codes: &[number(0, "powerOff"), number(12, "removing")],
};

/// States of element 0xEB. A bit that is 0 is an alarm.
pub(super) const LISTED_STATES: AlarmTable = AlarmTable {
    field: "bits of part C5 of element EB that are 0",
    notation: Notation::Bit,
    codes: &[number(6, "vibration")],
};

/// The battery in element 0xEB.
pub(super) const LISTED_BATTERY: AlarmTable = AlarmTable {
    field: "part C6 of element EB",
    notation: Notation::Decimal,
    codes: &[number(3, "lowBattery"), number(4, "lowBattery")],
};

/// The list of alarms in the last element of some asset trackers.
pub(super) const ASSET: AlarmTable = AlarmTable {
    field: "bits of the alarms in element FE",
    notation: Notation::Bit,
    codes: &[
        number(0, "hardAcceleration"),
        number(1, "hardBraking"),
        number(2, "hardCornering"),
        number(3, "accident"),
        number(4, "tampering"),
    ],
};

/// Alarms of electronic locks (products 1 and 2).
pub(super) const LOCK_SMALL: AlarmTable = AlarmTable {
    field: "bits of the alarms of a lock, products 1 and 2",
    notation: Notation::Bit,
    codes: &[number(0, "lowPower")],
};

/// Alarms of electronic locks (product 3).
pub(super) const LOCK: AlarmTable = AlarmTable {
    field: "bits of the alarms of a lock, product 3",
    notation: Notation::Bit,
    codes: &[
        number(0, "overspeed"),
        number(1, "lowPower"),
        number(2, "vibration"),
        number(3, "lowBattery"),
        number(5, "geofenceEnter"),
        number(6, "geofenceExit"),
    ],
};

/// Alarms in data of the vehicle.
pub(super) const VEHICLE: AlarmTable = AlarmTable {
    field: "alarm in data of the vehicle (0900, F0)",
    notation: Notation::Hexadecimal,
    codes: &[
        number(0x01, "powerRestored"),
        number(0x02, "powerCut"),
        number(0x0e, "idle"),
        number(0x1a, "hardAcceleration"),
        number(0x1b, "hardBraking"),
        number(0x1c, "hardCornering"),
        number(0x1d, "laneChange"),
        number(0x1e, "laneChange"),
        number(0x1f, "laneChange"),
        number(0x23, "fatigueDriving"),
        number(0x25, "overspeed"),
        number(0x26, "accident"),
        number(0x27, "accident"),
        number(0x28, "accident"),
        number(0x31, "door"),
        number(0x32, "door"),
    ],
};

/// Events of driving in data of the vehicle.
pub(super) const VEHICLE_EVENT: AlarmTable = AlarmTable {
    field: "event in data of the vehicle (0900, F0)",
    notation: Notation::Decimal,
    codes: &[
        number(51, "hardAcceleration"),
        number(52, "hardBraking"),
        number(53, "hardCornering"),
        number(54, "laneChange"),
        number(56, "accident"),
    ],
};

pub(super) const ALL: &[AlarmTable] = &[
    STANDARD,
    PADLOCK,
    AOVX,
    DRIVING,
    DOOR,
    MOTION,
    SENSOR,
    BUTTONS,
    CAMERA,
    LISTED,
    LISTED_STATES,
    LISTED_BATTERY,
    ASSET,
    LOCK_SMALL,
    LOCK,
    VEHICLE,
    VEHICLE_EVENT,
];
