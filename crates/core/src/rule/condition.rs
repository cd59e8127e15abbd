//! What a rule can ask of a location, and the built-in name of the alert that tells of it.

use serde::{Deserialize, Serialize};

use super::Quantity;
use crate::device::DeviceStatus;
use crate::id::GeofenceId;
use crate::location::Attribute;

/// Something that is true or false of a device at each of its locations.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Condition {
    /// A measure is beyond a limit. A location without it leaves things as they were.
    Measure {
        /// What is measured.
        quantity: Quantity,
        /// The limit.
        level: Level,
    },
    /// An attribute has this value.
    Equals {
        /// Its name.
        attribute: String,
        /// The value.
        value: Attribute,
    },
    /// The device is, or came to be, inside or outside all of these geofences.
    Fence {
        /// Which way.
        change: FenceChange,
        /// The geofences, ascending.
        geofences: Vec<GeofenceId>,
    },
    /// The device is outside all of these corridors.
    Route {
        /// The geofences, ascending.
        geofences: Vec<GeofenceId>,
    },
    /// It runs without moving, for so long.
    Idle {
        /// Seconds.
        seconds: u32,
        /// From this speed on it moves.
        speed_kmh: f64,
    },
    /// It has not left a place for so long, whether or not it reported.
    NoMovement {
        /// Seconds.
        seconds: u32,
        /// How far from where it stood is another place.
        radius_m: f64,
    },
    /// It was not heard for longer than its interval allows: late, or offline. Stands alone in a rule.
    Silence(Silence),
    /// The level of a tank changed by so much within a time.
    FuelJump {
        /// Which one.
        tank: Tank,
        /// Down or up.
        crossing: Crossing,
        /// Percent.
        by: f64,
        /// Seconds.
        within_s: u32,
    },
    /// A digital input is on or off.
    Input {
        /// Which one, from 1.
        number: u8,
        /// On or off.
        on: bool,
    },
    /// The ignition is on or off.
    Ignition {
        /// On or off.
        on: bool,
    },
    /// The device says so itself, or its speed changed by so much within a second.
    Harsh {
        /// Which one.
        jolt: Jolt,
        /// Kilometres an hour per second.
        kmh_per_s: f64,
    },
    /// Somebody asks for help.
    Sos,
}

/// A limit, and where it is given up again.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Level {
    /// Which side counts.
    pub crossing: Crossing,
    /// The limit; it must be passed, not met.
    pub limit: f64,
    /// What was beyond the limit is so until it is back at this; the limit itself when absent.
    pub clear: Option<f64>,
}

/// A direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Crossing {
    /// Higher than before, or than the limit.
    Above,
    /// Lower.
    Below,
    /// At the limit or higher.
    Reached,
}

/// What is asked of geofences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FenceChange {
    /// It was outside and is inside.
    Enter,
    /// It was inside and is outside.
    Leave,
    /// It is inside, however it came there.
    Inside,
    /// It is outside.
    Outside,
}

/// How long a device was not heard.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Silence {
    /// Longer than usual.
    Late,
    /// Much longer than usual.
    Offline,
}

/// A tank.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Tank {
    /// The first.
    First,
    /// The second.
    Second,
}

/// A harsh manoeuvre.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Jolt {
    /// Slower at once.
    Braking,
    /// Faster at once.
    Acceleration,
}

impl Silence {
    /// Whether a device of this status is as silent as that.
    pub const fn covers(self, status: DeviceStatus) -> bool {
        match self {
            Self::Late => matches!(status, DeviceStatus::Late | DeviceStatus::Offline),
            Self::Offline => matches!(status, DeviceStatus::Offline),
        }
    }
}

impl Jolt {
    /// Its name among alerts and attributes.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Braking => "HarshBraking",
            Self::Acceleration => "HarshAcceleration",
        }
    }
}

impl Condition {
    /// The geofences it looks at.
    pub fn geofences(&self) -> &[GeofenceId] {
        match self {
            Self::Fence { geofences, .. } | Self::Route { geofences } => geofences,
            _ => &[],
        }
    }

    /// The built-in name of an alert about it; `lasting` when it must have lasted.
    pub fn alert_name(&self, lasting: bool) -> String {
        let name = match self {
            Self::Measure { quantity, level } => return measure_name(quantity, level.crossing),
            Self::Input { number, .. } if lasting => return format!("Sensor{number}Time"),
            Self::Input { number, on } => {
                return format!("Sensor{number}{}", if *on { "On" } else { "Off" });
            }
            Self::Equals { .. } => "AttributeEquals",
            Self::Fence { change: FenceChange::Enter, .. } => "ForbiddenArea",
            Self::Fence { change: FenceChange::Inside, .. } => "CheckArea",
            Self::Fence { change: FenceChange::Leave | FenceChange::Outside, .. } => "AllowedArea",
            Self::Route { .. } => "Route",
            Self::Idle { .. } => "IdleTime",
            Self::NoMovement { .. } => "NoMovementTime",
            Self::Silence(_) => "Offline",
            Self::FuelJump { tank, crossing, .. } => match (tank, crossing) {
                (Tank::First, Crossing::Below) => "FuelJumpDown",
                (Tank::First, _) => "FuelJumpUp",
                (Tank::Second, Crossing::Below) => "FuelJumpDown2",
                (Tank::Second, _) => "FuelJumpUp2",
            },
            Self::Ignition { on: true } => "IgnitionOn",
            Self::Ignition { on: false } => "IgnitionOff",
            Self::Harsh { jolt, .. } => jolt.name(),
            Self::Sos => "SOSButton",
        };
        name.to_owned()
    }
}

fn measure_name(quantity: &Quantity, crossing: Crossing) -> String {
    let below = crossing == Crossing::Below;
    let pick = |low: &str, high: &str| if below { low.to_owned() } else { high.to_owned() };
    match quantity {
        Quantity::Speed => pick("SpeedLower", "SpeedLimit"),
        Quantity::Battery => pick("LowBattery", "BatteryLevel"),
        Quantity::Fuel => pick("FuelLessThan", "FuelGreaterThan"),
        Quantity::Fuel2 => pick("FuelLessThan2", "FuelGreaterThan2"),
        Quantity::Temperature => pick("TemperatureLowerThan", "TemperatureGreaterThan"),
        Quantity::Temperature2 => pick("Temperature2LessThan", "Temperature2GreaterThan"),
        Quantity::Rpm => "RPM".to_owned(),
        Quantity::Mileage => "Mileage".to_owned(),
        Quantity::SensorTime(number) => format!("SensorAccumulated{number}Time"),
        Quantity::Attribute(_) => pick("AttributeLessThan", "AttributeGreaterThan"),
    }
}
