//! The conditions of rules, and the built-in names of their alerts.

use serde::{Deserialize, Serialize};

use super::{Quantity, TripCondition};
use crate::devices::device::DeviceStatus;
use crate::id::GeofenceId;
use crate::locations::location::Attribute;

/// A condition, true or false at each location of a device.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Condition {
    /// A measured value is beyond a limit. A location without the value keeps the last result.
    Measure {
        /// The value that is compared.
        quantity: Quantity,
        /// The limit and its direction.
        level: Level,
    },
    /// An attribute has this value.
    Equals {
        /// The name of the attribute.
        attribute: String,
        /// The value it must have.
        value: Attribute,
    },
    /// The device is, or has just moved, inside any or outside all of these geofences.
    Fence {
        /// Whether position or movement counts.
        change: FenceChange,
        /// The geofences, ascending by id; they count as one area.
        geofences: Vec<GeofenceId>,
    },
    /// The device is outside all of these corridors.
    Route {
        /// The geofences, ascending by id, usually corridors.
        geofences: Vec<GeofenceId>,
    },
    /// The engine runs without movement for some time.
    Idle {
        /// How long, in seconds.
        seconds: u32,
        /// From this speed on the device counts as moving.
        speed_kmh: f64,
    },
    /// The device stays within a radius for some time, whether or not it reports.
    NoMovement {
        /// How long, in seconds.
        seconds: u32,
        /// Radius in metres around the first position.
        radius_m: f64,
    },
    /// The device is late or offline. Must be the only condition of its rule.
    Silence(Silence),
    /// The level of a tank changes by some amount within some time.
    FuelJump {
        /// The tank that is watched.
        tank: Tank,
        /// `Below` for a drop, `Above` for a rise.
        crossing: Crossing,
        /// Size of the change in percentage points.
        by: f64,
        /// Length of the time window in seconds.
        within_s: u32,
    },
    /// A digital input is on or off.
    Input {
        /// Number of the input, from 1.
        number: u8,
        /// The state that makes it true.
        on: bool,
    },
    /// The ignition is on or off.
    Ignition {
        /// The state that makes it true.
        on: bool,
    },
    /// The device brakes or accelerates hard: it reports this itself, or its speed changes faster than a limit.
    Harsh {
        /// Whether braking or acceleration is meant.
        jolt: HarshManoeuvre,
        /// Change of speed in km/h per second.
        kmh_per_s: f64,
    },
    /// Somebody pressed the SOS button.
    Sos,
    /// A trip of the timeline meets a condition. All conditions of its rule must be about trips.
    Trip(TripCondition),
}

/// A limit with hysteresis.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Level {
    /// The side of the limit that is true.
    pub crossing: Crossing,
    /// The limit. It must be exceeded, except for [`Crossing::Reached`].
    pub limit: f64,
    /// Once true, the condition stays true until the value is back at this; `None` uses `limit`.
    pub clear: Option<f64>,
}

/// On which side of a limit a value must be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Crossing {
    /// Above the limit, or rising.
    Above,
    /// Below the limit, or falling.
    Below,
    /// At the limit or higher.
    Reached,
}

/// How a device relates to geofences.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum FenceChange {
    /// It was outside before and is inside now.
    Enter,
    /// It was inside before and is outside now.
    Leave,
    /// It is inside, whether or not it was outside before.
    Inside,
    /// It is outside, whether or not it was inside before.
    Outside,
}

/// How long a device has been silent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Silence {
    /// Longer than its reporting interval allows.
    Late,
    /// Much longer than its reporting interval allows.
    Offline,
}

/// One of the two fuel tanks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Tank {
    /// The tank of the reading `fuel`.
    First,
    /// The tank of the reading `fuel2`.
    Second,
}

/// A sudden change of speed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum HarshManoeuvre {
    /// The speed drops suddenly.
    Braking,
    /// The speed rises suddenly.
    Acceleration,
}

impl Silence {
    /// Whether a device with this status is silent for at least this long.
    pub const fn covers(self, status: DeviceStatus) -> bool {
        match self {
            Self::Late => matches!(status, DeviceStatus::Late | DeviceStatus::Offline),
            Self::Offline => matches!(status, DeviceStatus::Offline),
        }
    }
}

impl HarshManoeuvre {
    /// The name of its alert.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Braking => "HarshBraking",
            Self::Acceleration => "HarshAcceleration",
        }
    }
}

impl Condition {
    /// The geofences that the condition names.
    pub fn geofences(&self) -> &[GeofenceId] {
        match self {
            Self::Fence { geofences, .. } | Self::Route { geofences } => geofences,
            _ => &[],
        }
    }

    /// Whether it depends on where the device is.
    pub const fn depends_on_position(&self) -> bool {
        matches!(self, Self::Fence { .. } | Self::Route { .. } | Self::NoMovement { .. })
    }

    /// The built-in name of its alert; `lasting` if the rule requires a duration.
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
            Self::Trip(TripCondition::Distance { .. }) => "TripDistance",
            Self::Trip(TripCondition::Duration { .. }) => "TripTime",
            Self::Trip(TripCondition::OutsideHours) => "TripOutsideHours",
            Self::Trip(TripCondition::Purpose { .. }) => "TripPurpose",
            Self::Trip(TripCondition::NoDriver) => "TripNoDriver",
            Self::Trip(TripCondition::Driving { .. }) => "DrivingTime",
            Self::Trip(TripCondition::NoTrip { .. }) => "NoTrip",
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
