//! The JSON of rule conditions.

use perigee_core::id::GeofenceId;
use perigee_core::locations::location::Attribute;
use perigee_core::rules::rule::{
    Condition, Crossing, FenceChange, HarshManoeuvre, Level, Quantity, RuleSettings, Silence, Tank,
    TripCondition,
};
use perigee_core::timeline::SegmentLabels;
use serde::Serialize;
use serde_json::{Value, json};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::http::input::{Member, Schemas, array};
use crate::http::json::{Field, Fields};

/// Maximum number of geofences in a condition.
const FENCES_MOST: usize = 1_000;
/// The largest absolute value of a limit.
const LIMIT_MOST: f64 = 1e9;
/// The largest distance of a trip in a condition, in kilometres.
const DISTANCE_MOST_KM: f64 = 100_000.0;

/// A condition that is true or false for a device at each of its locations. `type` decides which of the other members
/// apply. A location without the value does not change the result.
#[derive(Default, Serialize, ToSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[schema(as = RuleCondition, example = json!({"type": "speed", "above": 90, "clear": 85}))]
pub struct ConditionView {
    /// Type of the condition. Compared with `above`, `below` or `reached`: `speed` (km/h), `battery`, `fuel` and
    /// `fuel2` (percent), `temperature` and `temperature2` (degrees Celsius), `rpm` (revolutions per minute),
    /// `mileage` (kilometres), `sensorTime` (seconds that the sensor `number` was on). `attribute`: the attribute
    /// `name` is compared, or equals `equals`. `geofence`: the device enters, leaves, is inside or is outside
    /// `geofences`. `route`: the device is outside all `geofences`. `idle`: the device stands still, with the
    /// ignition on or unknown, for `seconds`. `noMovement`: the device stays within `radius` for `seconds`.
    /// `offline`, `late`: the device is silent for longer than its reporting interval allows. `fuelDrop`, `fuelRise`:
    /// the level of a tank changes by `by` within `withinSeconds`. `input`: a digital input is on or off. `ignition`:
    /// the ignition is on or off. `harshBraking`, `harshAcceleration`: the device reports it, or its speed changes by
    /// `perSecond`. `sos`: the device reports an SOS. Conditions on trips of the timeline, which cannot be combined with others:
    /// `tripDistance` (a finished trip is longer than `above` km), `tripDuration` (a trip lasts longer than `seconds`),
    /// `tripOutsideHours` (a trip is at least in part outside of the rule's `schedule`, which has the working hours),
    /// `tripPurpose` (a user gave the trip this `purpose`), `tripNoDriver` (it is not known who drove on a finished trip),
    /// `drivingTime` (the device was driven for longer than `seconds` without a break of `breakSeconds`), `noTrip` (the device
    /// made no trip for `seconds`).
    #[serde(rename = "type")]
    #[schema(
        example = "speed",
        pattern = "^(speed|battery|fuel|fuel2|temperature|temperature2|rpm|mileage|sensorTime|attribute|geofence|route|idle|noMovement|offline|late|fuelDrop|fuelRise|input|ignition|harshBraking|harshAcceleration|sos|tripDistance|tripDuration|tripOutsideHours|tripPurpose|tripNoDriver|drivingTime|noTrip)$"
    )]
    kind: String,
    /// Limit that the value must exceed, in the unit of `type`. Give exactly one of `above`, `below` and `reached`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = 90)]
    above: Option<f64>,
    /// Limit below which the value must be, in the unit of `type`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    below: Option<f64>,
    /// Limit that the value must equal or exceed, in the unit of `type`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    reached: Option<f64>,
    /// Value at which a condition that was true becomes false again, in the unit of `type`. It must not be beyond the
    /// limit. Default: the limit itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, example = 85)]
    clear: Option<f64>,
    /// Name of the attribute, for `attribute`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 200)]
    name: Option<String>,
    /// Value that the attribute must have, for `attribute`: a string of at most 1,000 characters, a number or a
    /// boolean.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    equals: Option<Value>,
    /// Number of the digital input, 1 to 64, for `input`; number of the sensor, 1 to 4, for `sensorTime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, minimum = 1, maximum = 64)]
    number: Option<u8>,
    /// State that makes the condition true, for `input` and `ignition`: true for on, false for off. Default: true.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false)]
    on: Option<bool>,
    /// Relation to the geofences, for `geofence`. `enter`: the device moves into one of them. `leave`: the device
    /// moves out of all of them. `inside`: the device is in one of them. `outside`: the device is in none of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, pattern = "^(enter|leave|inside|outside)$")]
    when: Option<String>,
    /// IDs of the geofences, for `geofence` and `route`. Several geofences count as one area.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_items = 1000)]
    geofences: Option<Vec<String>>,
    /// Time that the device must stand still, in seconds, for `idle` and `noMovement`; time of a trip or of driving without a
    /// break, for `tripDuration` and `drivingTime`; time without a trip, for `noTrip`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, minimum = 1, maximum = 2_678_400)]
    seconds: Option<u32>,
    /// Speed below which the device counts as standing still, in km/h, 0.1 to 1,000, for `idle`. Default: 5.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, minimum = 0)]
    below_speed: Option<f64>,
    /// Distance within which the device counts as not moving, in metres, 1 to 100,000, for `noMovement`. Default:
    /// 100.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, minimum = 1)]
    radius: Option<f64>,
    /// Change of the level of the tank, in percentage points, 0.1 to 100, for `fuelDrop` and `fuelRise`.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, minimum = 0)]
    by: Option<f64>,
    /// Time within which the level of the tank changes, in seconds, for `fuelDrop` and `fuelRise`. Default: 600.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, minimum = 1, maximum = 2_678_400)]
    within_seconds: Option<u32>,
    /// Number of the tank, 1 or 2, for `fuelDrop` and `fuelRise`. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, minimum = 1, maximum = 2)]
    tank: Option<u8>,
    /// Change of speed, in km/h per second, 1 to 200, for `harshBraking` and `harshAcceleration`. Default: 12.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, minimum = 1)]
    per_second: Option<f64>,
    /// Purpose of the trip, for `tripPurpose`: `business`, `private` or any other text. Letter case does not count.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, max_length = 100)]
    purpose: Option<String>,
    /// Shortest time between two trips that counts as a break, in seconds, for `drivingTime`. Default: 900.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = false, minimum = 60, maximum = 86_400)]
    break_seconds: Option<u32>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Type {
    Speed,
    Battery,
    Fuel,
    Fuel2,
    Temperature,
    Temperature2,
    Rpm,
    Mileage,
    SensorTime,
    Attribute,
    Geofence,
    Route,
    Idle,
    NoMovement,
    Offline,
    Late,
    FuelDrop,
    FuelRise,
    Input,
    Ignition,
    HarshBraking,
    HarshAcceleration,
    Sos,
    TripDistance,
    TripDuration,
    TripOutsideHours,
    TripPurpose,
    TripNoDriver,
    DrivingTime,
    NoTrip,
}

const TYPES: &[(&str, Type)] = &[
    ("speed", Type::Speed),
    ("battery", Type::Battery),
    ("fuel", Type::Fuel),
    ("fuel2", Type::Fuel2),
    ("temperature", Type::Temperature),
    ("temperature2", Type::Temperature2),
    ("rpm", Type::Rpm),
    ("mileage", Type::Mileage),
    ("sensorTime", Type::SensorTime),
    ("attribute", Type::Attribute),
    ("geofence", Type::Geofence),
    ("route", Type::Route),
    ("idle", Type::Idle),
    ("noMovement", Type::NoMovement),
    ("offline", Type::Offline),
    ("late", Type::Late),
    ("fuelDrop", Type::FuelDrop),
    ("fuelRise", Type::FuelRise),
    ("input", Type::Input),
    ("ignition", Type::Ignition),
    ("harshBraking", Type::HarshBraking),
    ("harshAcceleration", Type::HarshAcceleration),
    ("sos", Type::Sos),
    ("tripDistance", Type::TripDistance),
    ("tripDuration", Type::TripDuration),
    ("tripOutsideHours", Type::TripOutsideHours),
    ("tripPurpose", Type::TripPurpose),
    ("tripNoDriver", Type::TripNoDriver),
    ("drivingTime", Type::DrivingTime),
    ("noTrip", Type::NoTrip),
];

const CHANGES: &[(&str, FenceChange)] = &[
    ("enter", FenceChange::Enter),
    ("leave", FenceChange::Leave),
    ("inside", FenceChange::Inside),
    ("outside", FenceChange::Outside),
];

/// The conditions of a rule, as a member in `input!`.
pub(super) enum Conditions {}

impl Member for Conditions {
    type Value = Vec<Condition>;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Vec<Condition>> {
        fields.objects(name, 1..=RuleSettings::CONDITIONS_MAX, read_condition)
    }

    fn schema() -> RefOr<Schema> {
        let condition = RefOr::Ref(Ref::from_schema_name(ConditionView::name()));
        array(condition, 1, RuleSettings::CONDITIONS_MAX, false)
    }

    fn add_schemas(schemas: &mut Schemas) {
        schemas.push((ConditionView::name().into_owned(), <ConditionView as PartialSchema>::schema()));
    }
}

/// Reads one condition; problems are recorded in `fields`.
fn read_condition(fields: &mut Fields<'_>) -> Option<Condition> {
    let kind = fields.text("type").one_of(TYPES).required()?;
    match kind {
        Type::Speed => read_measure(fields, Quantity::Speed),
        Type::Battery => read_measure(fields, Quantity::Battery),
        Type::Fuel => read_measure(fields, Quantity::Fuel),
        Type::Fuel2 => read_measure(fields, Quantity::Fuel2),
        Type::Temperature => read_measure(fields, Quantity::Temperature),
        Type::Temperature2 => read_measure(fields, Quantity::Temperature2),
        Type::Rpm => read_measure(fields, Quantity::Rpm),
        Type::Mileage => read_measure(fields, Quantity::Mileage),
        Type::SensorTime => {
            let number = fields.integer("number", 1_u8..=4).required();
            read_measure(fields, Quantity::SensorTime(number.unwrap_or(1))).filter(|_| number.is_some())
        }
        Type::Attribute => read_attribute(fields),
        Type::Geofence => {
            let change = fields.text("when").one_of(CHANGES).required();
            let geofences = read_fences(fields);
            Some(Condition::Fence { change: change?, geofences: geofences? })
        }
        Type::Route => Some(Condition::Route { geofences: read_fences(fields)? }),
        Type::Idle => {
            let speed_kmh = fields.number("belowSpeed").range(0.1..=1_000.0).or(5.0);
            Some(Condition::Idle { seconds: read_seconds(fields)?, speed_kmh })
        }
        Type::NoMovement => {
            let radius_m = fields.number("radius").range(1.0..=100_000.0).or(100.0);
            Some(Condition::NoMovement { seconds: read_seconds(fields)?, radius_m })
        }
        Type::Offline => Some(Condition::Silence(Silence::Offline)),
        Type::Late => Some(Condition::Silence(Silence::Late)),
        Type::FuelDrop | Type::FuelRise => {
            let by = fields.number("by").range(0.1..=100.0).required();
            let within_s = fields.integer("withinSeconds", 1..=RuleSettings::SECONDS_MAX).or(600);
            let tank = if fields.integer("tank", 1_u8..=2).or(1) == 1 { Tank::First } else { Tank::Second };
            let crossing = if kind == Type::FuelDrop { Crossing::Below } else { Crossing::Above };
            Some(Condition::FuelJump { tank, crossing, by: by?, within_s })
        }
        Type::Input => {
            let number = fields.integer("number", 1_u8..=64).required();
            let on = fields.boolean("on").or(true);
            Some(Condition::Input { number: number?, on })
        }
        Type::Ignition => Some(Condition::Ignition { on: fields.boolean("on").or(true) }),
        Type::HarshBraking | Type::HarshAcceleration => {
            let jolt = if kind == Type::HarshBraking {
                HarshManoeuvre::Braking
            } else {
                HarshManoeuvre::Acceleration
            };
            let kmh_per_s = fields.number("perSecond").range(1.0..=200.0).or(12.0);
            Some(Condition::Harsh { jolt, kmh_per_s })
        }
        Type::Sos => Some(Condition::Sos),
        Type::TripDistance
        | Type::TripDuration
        | Type::TripOutsideHours
        | Type::TripPurpose
        | Type::TripNoDriver
        | Type::DrivingTime
        | Type::NoTrip => read_trip(fields, kind).map(Condition::Trip),
    }
}

fn read_trip(fields: &mut Fields<'_>, kind: Type) -> Option<TripCondition> {
    Some(match kind {
        Type::TripDistance => {
            let km = fields.number("above").range(0.1..=DISTANCE_MOST_KM).required()?;
            TripCondition::Distance { metres: whole_metres(km) }
        }
        Type::TripDuration => TripCondition::Duration { seconds: read_seconds(fields)? },
        Type::TripOutsideHours => TripCondition::OutsideHours,
        Type::TripPurpose => {
            let purpose = fields.text("purpose").chars(1..=SegmentLabels::NAME_MAX).required()?;
            TripCondition::Purpose { purpose }
        }
        Type::DrivingTime => {
            let break_s = fields.integer("breakSeconds", 60..=86_400).or(900);
            TripCondition::Driving { seconds: read_seconds(fields)?, break_s }
        }
        Type::NoTrip => TripCondition::NoTrip { seconds: read_seconds(fields)? },
        _ => TripCondition::NoDriver,
    })
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "limited before")]
fn whole_metres(km: f64) -> u32 {
    (km * 1_000.0).round() as u32
}

fn read_seconds(fields: &mut Fields<'_>) -> Option<u32> {
    fields.integer("seconds", 1..=RuleSettings::SECONDS_MAX).required()
}

fn read_fences(fields: &mut Fields<'_>) -> Option<Vec<GeofenceId>> {
    let mut fences = fields.array::<GeofenceId>("geofences", 1..=FENCES_MOST).unique().required()?;
    fences.sort_unstable();
    Some(fences)
}

fn read_level(fields: &mut Fields<'_>) -> Option<Level> {
    let limit = -LIMIT_MOST..=LIMIT_MOST;
    let given: Vec<(Crossing, f64)> = [
        (Crossing::Above, fields.number("above").range(limit.clone()).nullable()),
        (Crossing::Below, fields.number("below").range(limit.clone()).nullable()),
        (Crossing::Reached, fields.number("reached").range(limit.clone()).nullable()),
    ]
    .into_iter()
    .filter_map(|(crossing, limit)| Some((crossing, limit?)))
    .collect();
    let clear = fields.number("clear").range(limit).nullable();
    let &[(crossing, limit)] = given.as_slice() else {
        fields.refuse(
            "above",
            "is required unless \"below\" or \"reached\" is given; give exactly one of the three",
        );
        return None;
    };
    let behind = |clear: f64| if crossing == Crossing::Below { clear >= limit } else { clear <= limit };
    if clear.is_some_and(|clear| !behind(clear)) {
        fields.refuse(
            "clear",
            "must not be beyond the limit: it is the value at which the condition becomes false again",
        );
        return None;
    }
    Some(Level { crossing, limit, clear })
}

fn read_measure(fields: &mut Fields<'_>, quantity: Quantity) -> Option<Condition> {
    Some(Condition::Measure { quantity, level: read_level(fields)? })
}

fn read_attribute(fields: &mut Fields<'_>) -> Option<Condition> {
    let name = fields.text("name").chars(1..=200).required();
    if !fields.has("equals") {
        return read_measure(fields, Quantity::Attribute(name?));
    }
    let value = fields.raw("equals").convert(|value| match value {
        Value::String(text) if text.chars().count() <= 1_000 => Ok(Attribute::Text(text.clone())),
        Value::Bool(flag) => Ok(Attribute::Flag(*flag)),
        Value::Number(number) => number
            .as_i64()
            .map(Attribute::Integer)
            .or_else(|| number.as_f64().map(Attribute::Real))
            .ok_or_else(|| "must be a number".into()),
        _ => Err("must be a string of at most 1000 characters, a number or a boolean".into()),
    });
    let value = value.required();
    Some(Condition::Equals { attribute: name?, value: value? })
}

impl From<&Condition> for ConditionView {
    fn from(condition: &Condition) -> Self {
        let blank = |kind: &str| Self { kind: kind.to_owned(), ..Self::default() };
        let fences = |fences: &[GeofenceId]| Some(fences.iter().map(GeofenceId::to_string).collect());
        match condition {
            Condition::Measure { quantity, level } => of_measure(quantity, *level),
            Condition::Equals { attribute, value } => Self {
                name: Some(attribute.clone()),
                equals: Some(match value {
                    Attribute::Text(text) => json!(text),
                    Attribute::Integer(number) => json!(number),
                    Attribute::Real(number) => json!(number),
                    Attribute::Flag(flag) => json!(flag),
                }),
                ..blank("attribute")
            },
            Condition::Fence { change, geofences } => Self {
                when: CHANGES.iter().find(|(_, known)| known == change).map(|(word, _)| (*word).to_owned()),
                geofences: fences(geofences),
                ..blank("geofence")
            },
            Condition::Route { geofences } => Self { geofences: fences(geofences), ..blank("route") },
            Condition::Idle { seconds, speed_kmh } => {
                Self { seconds: Some(*seconds), below_speed: Some(*speed_kmh), ..blank("idle") }
            }
            Condition::NoMovement { seconds, radius_m } => {
                Self { seconds: Some(*seconds), radius: Some(*radius_m), ..blank("noMovement") }
            }
            Condition::Silence(Silence::Offline) => blank("offline"),
            Condition::Silence(Silence::Late) => blank("late"),
            Condition::FuelJump { tank, crossing, by, within_s } => Self {
                by: Some(*by),
                within_seconds: Some(*within_s),
                tank: Some(if *tank == Tank::First { 1 } else { 2 }),
                ..blank(if *crossing == Crossing::Below { "fuelDrop" } else { "fuelRise" })
            },
            Condition::Input { number, on } => {
                Self { number: Some(*number), on: Some(*on), ..blank("input") }
            }
            Condition::Ignition { on } => Self { on: Some(*on), ..blank("ignition") },
            Condition::Harsh { jolt, kmh_per_s } => Self {
                per_second: Some(*kmh_per_s),
                ..blank(if *jolt == HarshManoeuvre::Braking { "harshBraking" } else { "harshAcceleration" })
            },
            Condition::Sos => blank("sos"),
            Condition::Trip(trip) => of_trip(trip),
        }
    }
}

fn of_trip(condition: &TripCondition) -> ConditionView {
    let blank = |kind: &str| ConditionView { kind: kind.to_owned(), ..ConditionView::default() };
    match condition {
        TripCondition::Distance { metres } => {
            ConditionView { above: Some(f64::from(*metres) / 1_000.0), ..blank("tripDistance") }
        }
        TripCondition::Duration { seconds } => {
            ConditionView { seconds: Some(*seconds), ..blank("tripDuration") }
        }
        TripCondition::OutsideHours => blank("tripOutsideHours"),
        TripCondition::Purpose { purpose } => {
            ConditionView { purpose: Some(purpose.clone()), ..blank("tripPurpose") }
        }
        TripCondition::NoDriver => blank("tripNoDriver"),
        TripCondition::NoTrip { seconds } => ConditionView { seconds: Some(*seconds), ..blank("noTrip") },
        TripCondition::Driving { seconds, break_s } => {
            ConditionView { seconds: Some(*seconds), break_seconds: Some(*break_s), ..blank("drivingTime") }
        }
    }
}

fn of_measure(quantity: &Quantity, level: Level) -> ConditionView {
    let (kind, name, number) = match quantity {
        Quantity::Speed => ("speed", None, None),
        Quantity::Battery => ("battery", None, None),
        Quantity::Fuel => ("fuel", None, None),
        Quantity::Fuel2 => ("fuel2", None, None),
        Quantity::Temperature => ("temperature", None, None),
        Quantity::Temperature2 => ("temperature2", None, None),
        Quantity::Rpm => ("rpm", None, None),
        Quantity::Mileage => ("mileage", None, None),
        Quantity::SensorTime(number) => ("sensorTime", None, Some(*number)),
        Quantity::Attribute(name) => ("attribute", Some(name.clone()), None),
    };
    let limit_of = |crossing| (level.crossing == crossing).then_some(level.limit);
    ConditionView {
        kind: kind.to_owned(),
        above: limit_of(Crossing::Above),
        below: limit_of(Crossing::Below),
        reached: limit_of(Crossing::Reached),
        clear: level.clear,
        name,
        number,
        ..ConditionView::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::http::input::any_of;

    #[test]
    fn the_document_names_every_type() {
        let schema = serde_json::to_value(<ConditionView as PartialSchema>::schema()).unwrap();
        let names = any_of(TYPES.iter().map(|(name, _)| *name));
        assert_eq!(schema["properties"]["type"]["pattern"], format!("^{names}$"));
    }
}
