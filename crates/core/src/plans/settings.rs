//! The settings of a plan that a client can change.

use std::fmt;
use std::str::FromStr;

use jiff::civil;
use serde::{Deserialize, Serialize};

use crate::id::{DeviceId, GeofenceId};
use crate::locations::location::{Latitude, Longitude};
use crate::notifications::phone::PhoneNumber;
use crate::notifications::routing::{AlertRouting, Language};
use crate::text::Email;
use crate::time::Timestamp;
use crate::zone::Zone;

/// What a plan is about; for people and for the console.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum PlanKind {
    /// A voyage of a vessel.
    Voyage,
    /// A shift of a person who works alone.
    Shift,
    /// A hike or another tour on land.
    Hike,
    /// Work at a place, for example on a pylon.
    Work,
    /// Anything else.
    #[default]
    Other,
}

impl PlanKind {
    /// Every kind, in the order of the API document.
    pub const ALL: [Self; 5] = [Self::Voyage, Self::Shift, Self::Hike, Self::Work, Self::Other];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Voyage => "voyage",
            Self::Shift => "shift",
            Self::Hike => "hike",
            Self::Work => "work",
            Self::Other => "other",
        }
    }
}

/// The settings of a plan.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PlanSettings {
    /// Shown in lists, alerts and messages.
    pub name: String,
    /// What it is about.
    pub kind: PlanKind,
    /// Free text for people.
    pub description: Option<String>,
    /// Whether it is only copied and never started.
    pub is_template: bool,
    /// Devices whose messages and locations count; alerts are about the first.
    pub devices: Vec<DeviceId>,
    /// The people who travel.
    pub travellers: Vec<Traveller>,
    /// Who is warned, besides those whom the routing of the device names.
    pub notify: Option<AlertRouting>,
    /// The vessel or vehicle.
    pub craft: Option<Craft>,
    /// The route.
    pub waypoints: Vec<Waypoint>,
    /// When it is to start.
    pub start: Option<Timestamp>,
    /// Whether it starts by itself at `start`.
    pub starts_itself: bool,
    /// Until when it must be ended.
    pub expected_arrival: Option<Timestamp>,
    /// Whether a location near the last waypoint ends it.
    pub ends_at_destination: bool,
    /// The zone of the times of day; `None` for that of the account.
    pub time_zone: Option<Zone>,
    /// When check-ins are expected, and what counts as one.
    pub check_ins: CheckInRules,
    /// How long a check-in may be late, and the steps if it is missed.
    pub grace: Grace,
    /// Words by which travellers steer the plan; `None` for those of the six languages.
    pub words: PlanWords,
}

/// A person who travels.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traveller {
    /// Name of the person.
    pub name: String,
    /// Gets an SMS when a check-in is missed.
    pub phone: Option<PhoneNumber>,
    /// Gets an e-mail when a check-in is missed.
    pub email: Option<Email>,
    /// Language of messages to the person.
    pub language: Language,
    /// For the rescue service: medication, experience, clothes.
    pub note: Option<String>,
}

/// A vessel or vehicle, as people describe it to the rescue service.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names of the fields say it")]
pub struct Craft {
    pub name: Option<String>,
    pub kind: Option<String>,
    pub description: Option<String>,
    pub equipment: Option<String>,
    pub colour: Option<String>,
    pub call_sign: Option<String>,
    pub mmsi: Option<String>,
    /// The device of the plan whose photo shows it.
    pub photo_device: Option<DeviceId>,
}

/// A point of the route.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Waypoint {
    /// Name of the place.
    pub name: Option<String>,
    /// Where it is.
    pub position: (Latitude, Longitude),
    /// Until when a check-in is expected there.
    pub time: Option<Timestamp>,
    /// Metres from it that count as being there.
    pub radius_m: Option<u32>,
}

/// A time of day, in minutes after midnight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct ClockTime(u16);

/// The error for a text that is not a time of day.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be a time of day such as 18:00")]
pub struct ParseClockTimeError;

impl ClockTime {
    /// The time on the clock.
    pub fn to_civil(self) -> civil::Time {
        let part = |value: u16| i8::try_from(value).unwrap_or(0);
        civil::Time::new(part(self.0 / 60), part(self.0 % 60), 0, 0).unwrap_or(civil::Time::MIN)
    }
}

impl FromStr for ClockTime {
    type Err = ParseClockTimeError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let (hours, minutes) = text.split_once(':').ok_or(ParseClockTimeError)?;
        let number = |digits: &str, most: u16| {
            let is_number = digits.len() == 2 && digits.bytes().all(|byte| byte.is_ascii_digit());
            let value = digits.parse::<u16>().ok().filter(|value| is_number && *value <= most);
            value.ok_or(ParseClockTimeError)
        };
        Ok(Self(number(hours, 23)? * 60 + number(minutes, 59)?))
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:02}:{:02}", self.0 / 60, self.0 % 60)
    }
}

/// When check-ins are expected, and what counts as one.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckInRules {
    /// At most this many minutes between two check-ins.
    pub every_minutes: Option<u32>,
    /// One until each of these times of day, ascending.
    pub times: Vec<ClockTime>,
    /// What counts. Buttons always count.
    pub by: CheckInSources,
}

/// What counts as a check-in, besides the buttons.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CheckInSources {
    /// Any text of a device.
    pub message: bool,
    /// Any location that is not suspect.
    pub location: bool,
    /// A text that begins with one of the words for a check-in.
    pub words: bool,
    /// A location inside one of these geofences.
    pub geofences: Vec<GeofenceId>,
}

impl Default for CheckInSources {
    fn default() -> Self {
        Self { message: true, location: true, words: true, geofences: Vec::new() }
    }
}

/// How late a check-in may be, and the delays of the steps that follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grace {
    /// Minutes after the deadline until the check-in is missed.
    pub minutes: u32,
    /// Minutes before a time of day or a waypoint's time from which a check-in counts for it.
    pub early_minutes: u32,
    /// Whether the traveller is asked when it is missed.
    pub nudges: bool,
    /// Minutes after it is missed until the warning.
    pub warn_minutes: u32,
    /// Minutes after it is missed until the critical alert.
    pub alarm_minutes: u32,
}

impl Default for Grace {
    fn default() -> Self {
        Self { minutes: 15, early_minutes: 60, nudges: true, warn_minutes: 15, alarm_minutes: 45 }
    }
}

/// Words by which travellers steer a plan in texts of a device; `None` for the built-in ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[expect(missing_docs, reason = "the names of the fields say it")]
pub struct PlanWords {
    pub check_in: Option<Vec<String>>,
    pub end: Option<Vec<String>>,
    pub pause: Option<Vec<String>>,
    pub resume: Option<Vec<String>>,
    pub extend: Option<Vec<String>>,
}

/// Which plans to list; all conditions must be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlanFilter {
    /// Only plans in this state.
    pub state: Option<super::PlanState>,
    /// Only plans of this device.
    pub device: Option<DeviceId>,
    /// Whether templates are listed, or plans that are none.
    pub templates: bool,
}

impl Waypoint {
    /// The radius of a waypoint that has a time and no radius, in metres.
    pub const RADIUS_M: u32 = 500;

    /// Whether a position is at the waypoint.
    pub fn is_at(&self, position: (Latitude, Longitude)) -> bool {
        let radius = f64::from(self.radius_m.unwrap_or(Self::RADIUS_M));
        crate::locations::sphere::distance_m(self.position, position) <= radius
    }
}

impl PlanSettings {
    /// Maximum number of plans of an account, templates included.
    pub const PER_ACCOUNT_MAX: u32 = 10_000;
    /// Maximum number of plans of one device that run or start by themselves.
    pub const RUNNING_PER_DEVICE_MAX: u32 = 100;
    /// Maximum number of devices of a plan.
    pub const DEVICES_MAX: usize = 20;
    /// Maximum number of travellers.
    pub const TRAVELLERS_MAX: usize = 50;
    /// Maximum number of waypoints.
    pub const WAYPOINTS_MAX: usize = 200;
    /// Maximum number of times of day.
    pub const TIMES_MAX: usize = 48;
    /// Maximum number of geofences.
    pub const GEOFENCES_MAX: usize = 20;
    /// Maximum number of words of each meaning.
    pub const WORDS_MAX: usize = 20;
    /// Maximum number of characters of a word.
    pub const WORD_MAX: usize = 50;
    /// Shortest interval of check-ins, in minutes.
    pub const EVERY_MIN: u32 = 5;
    /// Longest interval of check-ins, in minutes: a week.
    pub const EVERY_MAX: u32 = 10_080;
    /// Longest grace, in minutes.
    pub const GRACE_MAX: u32 = 1_440;
    /// Longest delay of the critical alert, in minutes.
    pub const ALARM_MAX: u32 = 10_080;
    /// Longest pause or extension, in minutes: 30 days.
    pub const EXTEND_MAX: u32 = 43_200;
    /// Maximum number of characters of a note of an action.
    pub const NOTE_MAX: usize = 1_000;

    /// The device that alerts are about.
    pub fn first_device(&self) -> Option<DeviceId> {
        self.devices.first().copied()
    }

    /// Whether positions are compared with geofences or waypoints, so that each location has to be looked at.
    pub fn needs_positions(&self) -> bool {
        self.ends_at_destination
            || !self.check_ins.by.geofences.is_empty()
            || self.waypoints.iter().any(|waypoint| waypoint.time.is_some())
    }

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 21] {
        let (grace, old) = (&self.grace, &before.grace);
        [
            ("name", self.name != before.name),
            ("kind", self.kind != before.kind),
            ("description", self.description != before.description),
            ("template", self.is_template != before.is_template),
            ("devices", self.devices != before.devices),
            ("travellers", self.travellers != before.travellers),
            ("notify", self.notify != before.notify),
            ("craft", self.craft != before.craft),
            ("waypoints", self.waypoints != before.waypoints),
            ("start", self.start != before.start),
            ("autoStart", self.starts_itself != before.starts_itself),
            ("expectedArrival", self.expected_arrival != before.expected_arrival),
            ("endAtDestination", self.ends_at_destination != before.ends_at_destination),
            ("timeZone", self.time_zone != before.time_zone),
            ("checkIns", self.check_ins != before.check_ins),
            ("graceMinutes", grace.minutes != old.minutes),
            ("earlyMinutes", grace.early_minutes != old.early_minutes),
            ("nudge", grace.nudges != old.nudges),
            ("warnMinutes", grace.warn_minutes != old.warn_minutes),
            ("alarmMinutes", grace.alarm_minutes != old.alarm_minutes),
            ("words", self.words != before.words),
        ]
    }

    /// The settings of a copy, whose times move so that it starts at another instant.
    #[must_use]
    pub fn copy(&self, name: Option<String>, is_template: bool, start: Option<Timestamp>) -> Self {
        let mut copy = self.clone();
        if let Some(name) = name {
            copy.name = name;
        }
        copy.is_template = is_template;
        // A start in the past would start the copy at once.
        copy.starts_itself &= !is_template && start.is_some();
        let first = self.start.or_else(|| self.waypoints.iter().find_map(|waypoint| waypoint.time));
        if let Some(start) = start {
            let by_ms = first.map_or(0, |first| start.as_millis().saturating_sub(first.as_millis()));
            let moved = |time: Timestamp| time.plus_millis(by_ms);
            copy.start = Some(start);
            copy.expected_arrival = self.expected_arrival.map(moved);
            for waypoint in &mut copy.waypoints {
                waypoint.time = waypoint.time.map(moved);
            }
        }
        copy
    }
}
