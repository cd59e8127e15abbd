//! What a condition remembers of the locations before, and how the next one is judged.

use serde::{Deserialize, Serialize};

use super::condition::{Condition, Crossing, FenceChange, Jolt, Level, Tank};

use crate::location::{Attribute, Latitude, Location, Longitude, Milli};
use crate::sphere::distance_m;
use crate::time::Timestamp;

/// Levels of a tank remembered at the most.
const LEVELS_MOST: usize = 64;
/// Speeds further apart than this say nothing of a jolt.
const JOLT_WITHIN_MS: i64 = 10_000;

/// What a condition remembers of a device; whether it was true at the last location stands apart.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Memory {
    /// Nothing.
    #[serde(rename = "n")]
    Nothing,
    /// Whether it was seen on the side from which the change begins.
    #[serde(rename = "a")]
    Armed(bool),
    /// Since when it runs idle.
    #[serde(rename = "i")]
    Since(Option<Timestamp>),
    /// Since when it stands where.
    #[serde(rename = "s")]
    Still(Option<(Timestamp, Latitude, Longitude)>),
    /// Levels that may still be the top or bottom of a jump, oldest first.
    #[serde(rename = "l")]
    Levels(Vec<(Timestamp, Milli)>),
    /// The last speed.
    #[serde(rename = "v")]
    Speed(Option<(Timestamp, Milli)>),
}

impl Memory {
    /// That of a condition which has seen nothing.
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

    /// The instant at which the condition becomes true unless a location says otherwise.
    pub fn due(&self, condition: &Condition) -> Option<Timestamp> {
        match (condition, self) {
            (Condition::NoMovement { seconds, .. }, Self::Still(Some((since, ..)))) => {
                Some(since.plus_seconds(i64::from(*seconds)))
            }
            _ => None,
        }
    }

    /// Judges a location, which lies `inside` a geofence of the condition or not; `was` is what the one before was
    /// judged.
    pub fn judge(&mut self, condition: &Condition, was: bool, location: &Location, inside: bool) -> bool {
        let readings = &location.readings;
        match (condition, self) {
            (Condition::Measure { quantity, level }, _) => {
                quantity.of(location).map_or(was, |value| level.holds(value, was))
            }
            (Condition::Equals { attribute, value }, _) => {
                readings.attributes.get(attribute).map_or(was, |found| is_same(found, value))
            }
            (Condition::Fence { change, .. }, Self::Armed(armed)) => change.judge(inside, armed),
            (Condition::Route { .. }, _) => !inside,
            (Condition::Idle { seconds, speed_kmh }, Self::Since(since)) => {
                judge_idle(location, *seconds, *speed_kmh, since)
            }
            (Condition::NoMovement { seconds, radius_m }, Self::Still(still)) => {
                judge_still(location, *seconds, *radius_m, still)
            }
            (Condition::FuelJump { tank, crossing, by, within_s }, Self::Levels(levels)) => {
                let level = if *tank == Tank::First { readings.fuel } else { readings.fuel2 };
                let Some(level) = level else { return was };
                judge_jump(levels, (location.time, level), *crossing, *within_s) >= *by
            }
            (Condition::Input { number, on }, _) => {
                let inputs = readings.inputs.as_ref();
                let input = inputs.and_then(|inputs| inputs.get(usize::from(*number).checked_sub(1)?));
                input.map_or(was, |input| input == on)
            }
            (Condition::Ignition { on }, _) => readings.ignition.map_or(was, |ignition| ignition == *on),
            (Condition::Harsh { jolt, kmh_per_s }, Self::Speed(last)) => {
                judge_jolt(location, *jolt, *kmh_per_s, last)
            }
            (Condition::Sos, _) => says(location, "SOSButton", "sos"),
            _ => false,
        }
    }
}

impl Level {
    /// Whether a value is beyond the limit, or was and is not back yet.
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
    fn judge(self, inside: bool, armed: &mut bool) -> bool {
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
    #[expect(clippy::cast_precision_loss, reason = "beyond 2^53 nobody writes it as a fraction")]
    match (found, wanted) {
        (Attribute::Integer(whole), Attribute::Real(real))
        | (Attribute::Real(real), Attribute::Integer(whole)) => (*whole as f64 - real).abs() < f64::EPSILON,
        _ => found == wanted,
    }
}

/// Whether it runs and stands, and has for so long. Without word of the ignition, standing is enough.
fn judge_idle(location: &Location, seconds: u32, speed_kmh: f64, since: &mut Option<Timestamp>) -> bool {
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

fn judge_still(
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

/// How far a level is from the top or bottom of the time before.
fn judge_jump(
    levels: &mut Vec<(Timestamp, Milli)>,
    (time, level): (Timestamp, Milli),
    crossing: Crossing,
    within_s: u32,
) -> f64 {
    let oldest = time.plus_seconds(-i64::from(within_s));
    levels.retain(|(at, _)| *at >= oldest);
    let falls = crossing == Crossing::Below;
    // What is passed by a later level can be the top, or bottom, of nothing any more.
    while levels.last().is_some_and(|(_, last)| if falls { *last <= level } else { *last >= level }) {
        levels.pop();
    }
    levels.push((time, level));
    if levels.len() > LEVELS_MOST {
        levels.remove(1);
    }
    levels.first().map_or(0.0, |(_, first)| (first.as_f64() - level.as_f64()).abs())
}

fn judge_jolt(
    location: &Location,
    jolt: Jolt,
    kmh_per_s: f64,
    last: &mut Option<(Timestamp, Milli)>,
) -> bool {
    let attribute = match jolt {
        Jolt::Braking => "harshBraking",
        Jolt::Acceleration => "harshAcceleration",
    };
    let told = says(location, jolt.name(), attribute);
    let Some(speed) = location.readings.speed else { return told };
    let before = last.replace((location.time, speed));
    let changed = before.is_some_and(|(time, before)| {
        let elapsed_ms = location.time.as_millis() - time.as_millis();
        let faster = speed.as_f64() - before.as_f64();
        let change = if jolt == Jolt::Braking { -faster } else { faster };
        #[expect(clippy::cast_precision_loss, reason = "at most ten seconds")]
        let limit = kmh_per_s * (elapsed_ms as f64 / 1000.0);
        (1..=JOLT_WITHIN_MS).contains(&elapsed_ms) && change >= limit
    });
    told || changed
}

/// Whether the device says so: by an alert or warning of this name, or an attribute that is true.
fn says(location: &Location, name: &str, attribute: &str) -> bool {
    let readings = &location.readings;
    let named = |names: &Option<Vec<String>>| names.iter().flatten().any(|one| one == name);
    named(&readings.alerts)
        || named(&readings.warnings)
        || matches!(readings.attributes.get(attribute), Some(Attribute::Flag(true)))
}
