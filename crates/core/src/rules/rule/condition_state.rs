//! The state that a condition keeps between locations, and evaluating the next location.

use serde::{Deserialize, Serialize};

use super::condition::{Condition, Crossing, FenceChange, HarshManoeuvre, Level, Tank};

use crate::locations::location::{Attribute, Latitude, Location, Longitude, Milli};
use crate::locations::sphere::distance_m;
use crate::time::Timestamp;

/// The most tank levels that are kept.
const LEVELS_MOST: usize = 64;
/// Speeds further apart than this many milliseconds are not compared.
const JOLT_WITHIN_MS: i64 = 10_000;

/// The state of a condition from earlier locations of a device, besides its last result.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ConditionState {
    /// No state is needed.
    #[serde(rename = "n")]
    Nothing,
    /// Whether the device was seen on the other side of the geofence.
    #[serde(rename = "a")]
    Armed(bool),
    /// Since when the device is idle.
    #[serde(rename = "i")]
    Since(Option<Timestamp>),
    /// Since when and where the device stands.
    #[serde(rename = "s")]
    Still(Option<(Timestamp, Latitude, Longitude)>),
    /// Tank levels that can still be the start of a jump, oldest first.
    #[serde(rename = "l")]
    Levels(Vec<(Timestamp, Milli)>),
    /// Time and speed of the last location that had a speed.
    #[serde(rename = "v")]
    Speed(Option<(Timestamp, Milli)>),
}

impl ConditionState {
    /// The state before the first location.
    pub const fn blank(condition: &Condition) -> Self {
        match condition {
            Condition::Fence { .. } => Self::Armed(false),
            Condition::Idle { .. } => Self::Since(None),
            Condition::NoMovement { .. } => Self::Still(None),
            Condition::FuelJump { .. } => Self::Levels(Vec::new()),
            Condition::Harsh { .. } => Self::Speed(None),
            _ => Self::Nothing,
        }
    }

    /// When the condition becomes true if no further location arrives.
    pub fn due(&self, condition: &Condition) -> Option<Timestamp> {
        match (condition, self) {
            (Condition::NoMovement { seconds, .. }, Self::Still(Some((since, ..)))) => {
                Some(since.plus_seconds(i64::from(*seconds)))
            }
            _ => None,
        }
    }

    /// Evaluates a location. `was` is the result at the location before; `inside` is whether the location is in a
    /// geofence of the condition.
    pub fn evaluate(&mut self, condition: &Condition, was: bool, location: &Location, inside: bool) -> bool {
        let readings = &location.readings;
        match (condition, self) {
            (Condition::Measure { quantity, level }, _) => {
                quantity.of(location).map_or(was, |value| level.holds(value, was))
            }
            (Condition::Equals { attribute, value }, _) => {
                readings.attributes.get(attribute).map_or(was, |found| is_same(found, value))
            }
            (Condition::Fence { change, .. }, Self::Armed(armed)) => change.evaluate(inside, armed),
            (Condition::Route { .. }, _) => !inside,
            (Condition::Idle { seconds, speed_kmh }, Self::Since(since)) => {
                evaluate_idle(location, *seconds, *speed_kmh, since)
            }
            (Condition::NoMovement { seconds, radius_m }, Self::Still(still)) => {
                evaluate_still(location, *seconds, *radius_m, still)
            }
            (Condition::FuelJump { tank, crossing, by, within_s }, Self::Levels(levels)) => {
                let level = if *tank == Tank::First { readings.fuel } else { readings.fuel2 };
                let Some(level) = level else { return was };
                evaluate_jump(levels, (location.time, level), *crossing, *within_s) >= *by
            }
            (Condition::Input { number, on }, _) => {
                let inputs = readings.inputs.as_ref();
                let input = inputs.and_then(|inputs| inputs.get(usize::from(*number).checked_sub(1)?));
                input.map_or(was, |input| input == on)
            }
            (Condition::Ignition { on }, _) => readings.ignition.map_or(was, |ignition| ignition == *on),
            (Condition::Harsh { jolt, kmh_per_s }, Self::Speed(last)) => {
                evaluate_jolt(location, *jolt, *kmh_per_s, last)
            }
            (Condition::Sos, _) => is_reported(location, "SOSButton", "sos"),
            _ => false,
        }
    }
}

impl Level {
    /// Whether a value is beyond the limit, or has been and is not back at `clear` yet.
    fn holds(&self, value: f64, was: bool) -> bool {
        let limit = if was { self.clear.unwrap_or(self.limit) } else { self.limit };
        match self.crossing {
            Crossing::Above => value > limit,
            Crossing::Below => value < limit,
            Crossing::Reached => value >= limit,
        }
    }
}

impl FenceChange {
    fn evaluate(self, inside: bool, armed: &mut bool) -> bool {
        let (there, needs_change) = match self {
            Self::Enter => (inside, true),
            Self::Leave => (!inside, true),
            Self::Inside => (inside, false),
            Self::Outside => (!inside, false),
        };
        *armed |= !there;
        there && (*armed || !needs_change)
    }
}

fn is_same(found: &Attribute, wanted: &Attribute) -> bool {
    #[expect(clippy::cast_precision_loss, reason = "numbers beyond 2^53 are not sent as fractions")]
    match (found, wanted) {
        (Attribute::Integer(whole), Attribute::Real(real))
        | (Attribute::Real(real), Attribute::Integer(whole)) => (*whole as f64 - real).abs() < f64::EPSILON,
        _ => found == wanted,
    }
}

/// Whether the device has been idle for `seconds`. If the ignition is not known, standing still is enough.
fn evaluate_idle(location: &Location, seconds: u32, speed_kmh: f64, since: &mut Option<Timestamp>) -> bool {
    let readings = &location.readings;
    let inactive_s = readings.inactive_s.map(Milli::as_f64).filter(|inactive| *inactive > 0.0);
    let stands = match readings.speed {
        Some(speed) => speed.as_f64() < speed_kmh,
        None => inactive_s.is_some() || since.is_some(),
    };
    if readings.ignition == Some(false) || !stands {
        *since = None;
        return false;
    }
    let begun = since.get_or_insert(location.time);
    let long = location.time.as_millis() - begun.as_millis() >= i64::from(seconds) * 1000;
    long || inactive_s.is_some_and(|inactive| inactive >= f64::from(seconds))
}

fn evaluate_still(
    location: &Location,
    seconds: u32,
    radius_m: f64,
    still: &mut Option<(Timestamp, Latitude, Longitude)>,
) -> bool {
    let here = (location.time, location.latitude, location.longitude);
    match still {
        Some((since, latitude, longitude))
            if distance_m((*latitude, *longitude), (here.1, here.2)) <= radius_m =>
        {
            here.0.as_millis() - since.as_millis() >= i64::from(seconds) * 1000
        }
        _ => {
            *still = Some(here);
            false
        }
    }
}

/// How far a level is below the highest, or above the lowest, of the time window.
fn evaluate_jump(
    levels: &mut Vec<(Timestamp, Milli)>,
    (time, level): (Timestamp, Milli),
    crossing: Crossing,
    within_s: u32,
) -> f64 {
    let oldest = time.plus_seconds(-i64::from(within_s));
    levels.retain(|(at, _)| *at >= oldest);
    let falls = crossing == Crossing::Below;
    // Levels below (or above) a later one can no longer be the highest (or lowest) of a window.
    while levels.last().is_some_and(|(_, last)| if falls { *last <= level } else { *last >= level }) {
        levels.pop();
    }
    levels.push((time, level));
    if levels.len() > LEVELS_MOST {
        levels.remove(1);
    }
    levels.first().map_or(0.0, |(_, first)| (first.as_f64() - level.as_f64()).abs())
}

fn evaluate_jolt(
    location: &Location,
    jolt: HarshManoeuvre,
    kmh_per_s: f64,
    last: &mut Option<(Timestamp, Milli)>,
) -> bool {
    let attribute = match jolt {
        HarshManoeuvre::Braking => "harshBraking",
        HarshManoeuvre::Acceleration => "harshAcceleration",
    };
    let reported = is_reported(location, jolt.name(), attribute);
    let Some(speed) = location.readings.speed else { return reported };
    let before = last.replace((location.time, speed));
    let changed = before.is_some_and(|(time, before)| {
        let elapsed_ms = location.time.as_millis() - time.as_millis();
        let faster = speed.as_f64() - before.as_f64();
        let change = if jolt == HarshManoeuvre::Braking { -faster } else { faster };
        #[expect(clippy::cast_precision_loss, reason = "at most ten seconds")]
        let limit = kmh_per_s * (elapsed_ms as f64 / 1000.0);
        (1..=JOLT_WITHIN_MS).contains(&elapsed_ms) && change >= limit
    });
    reported || changed
}

/// Whether the device reports an event: by an alert or warning of this name, or by this attribute being true.
fn is_reported(location: &Location, name: &str, attribute: &str) -> bool {
    let readings = &location.readings;
    let named = |names: &Option<Vec<String>>| names.iter().flatten().any(|one| one == name);
    named(&readings.alerts)
        || named(&readings.warnings)
        || matches!(readings.attributes.get(attribute), Some(Attribute::Flag(true)))
}
