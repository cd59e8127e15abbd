//! A rule as it is stored.

use serde::{Deserialize, Serialize};

use super::{Condition, Silence};
use crate::id::{AccountId, DeviceId, GeofenceId, GroupId, RuleId};
use crate::locations::location::{FixSource, Location, Readings};
use crate::notifications::routing::AlertRouting;
use crate::revision::Revision;
use crate::rules::schedule::Schedule;
use crate::time::Timestamp;
use crate::zone::Zone;

/// A rule that raises alerts, as stored.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Assigned by the service; never changes.
    pub id: RuleId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: RuleSettings,
    /// Grows when its conditions, times or geofences change. State of an older generation is discarded.
    pub generation: i64,
    /// Locations with a fix time before this instant are not evaluated.
    pub since: Timestamp,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// The settings of a rule that a client can change.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleSettings {
    /// Shown in lists; also the text of its alerts unless `text` is set.
    pub name: String,
    /// Free text for people.
    pub description: Option<String>,
    /// Whether it is evaluated at all.
    pub enabled: bool,
    /// The devices it applies to.
    pub target: RuleTarget,
    /// The conditions that must all be true.
    pub conditions: Vec<Condition>,
    /// Seconds that they must be true before an alert is raised.
    pub for_s: u32,
    /// Seconds after an alert in which no other is raised.
    pub cool_down_s: u32,
    /// The accuracy in metres beyond which a rule with a condition about positions ignores a location. Rules that were
    /// stored before there was such a setting have the default.
    #[serde(default = "RuleSettings::default_max_accuracy_m")]
    pub max_accuracy_m: u32,
    /// Hours in which the rule can be true; `None` for always.
    pub schedule: Option<Schedule>,
    /// The name of its alerts; `None` uses the name of its first condition.
    pub alert_name: Option<String>,
    /// The text of its alerts; `None` uses the rule's name.
    pub text: Option<String>,
    /// Whether its alerts are critical.
    pub critical: bool,
    /// Who is notified of its alerts, in addition to the routing of the device, its groups or the account.
    #[serde(default)]
    pub routing: AlertRouting,
}

/// The devices a rule applies to: the union of the fields.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleTarget {
    /// Whether it applies to every device of the account.
    pub all: bool,
    /// Devices by id, ascending.
    pub devices: Vec<DeviceId>,
    /// Groups whose devices are included, ascending by id.
    pub groups: Vec<GroupId>,
}

impl RuleTarget {
    /// Maximum number of devices, and of groups, that a rule may name.
    pub const NAMED_MAX: usize = 1_000;
}

impl Rule {
    /// When a rule about silence becomes true for a device that is silent since `since`: at once, or when the hours of
    /// its schedule begin. If the silence began before the rule was created or changed, only hours that begin
    /// afterwards count.
    pub fn silence_from(&self, since: Timestamp) -> Option<Timestamp> {
        if self.settings.schedule.is_none() {
            return Some(since);
        }
        let from = self.settings.next_holding(since.max(self.since))?;
        (since >= self.since || from > self.since).then_some(from)
    }

    /// The start of a rule that is created or changed now: the beginning of the present second, because trackers date
    /// their fixes in whole seconds.
    pub const fn since(now: Timestamp) -> Timestamp {
        now.plus_millis(-now.as_millis().rem_euclid(1_000))
    }
}

impl RuleSettings {
    /// Whether its schedule contains this instant.
    pub fn holds_at(&self, instant: Timestamp) -> bool {
        self.schedule.as_ref().is_none_or(|schedule| schedule.contains(instant, const { &Zone::utc() }))
    }

    /// The first instant from this one on that its schedule contains.
    pub fn next_holding(&self, instant: Timestamp) -> Option<Timestamp> {
        match &self.schedule {
            Some(schedule) => schedule.next(instant, const { &Zone::utc() }),
            None => Some(instant),
        }
    }

    /// Maximum number of rules of an account.
    pub const PER_ACCOUNT_MAX: u32 = 1_000;
    /// Maximum number of conditions of a rule.
    pub const CONDITIONS_MAX: usize = 8;
    /// The longest duration in a rule, in seconds: 31 days.
    pub const SECONDS_MAX: u32 = 2_678_400;

    /// The default of `max_accuracy_m`: good fixes pass, estimates of networks do not.
    pub const MAX_ACCURACY_M: u32 = 500;
    /// The largest value of `max_accuracy_m`.
    pub const ACCURACY_MOST_M: u32 = 1_000_000;

    const fn default_max_accuracy_m() -> u32 {
        Self::MAX_ACCURACY_M
    }

    /// Whether the rule evaluates a location. One with a condition about positions ignores positions that are too
    /// coarse, and estimates of networks without an accuracy.
    pub fn accepts(&self, location: &Location) -> bool {
        let Readings { accuracy, source, .. } = &location.readings;
        if !self.conditions.iter().any(Condition::depends_on_position) {
            return true;
        }
        match accuracy {
            Some(accuracy) => accuracy.as_thousandths() <= i64::from(self.max_accuracy_m) * 1_000,
            None => !matches!(source, Some(FixSource::Network | FixSource::Doppler)),
        }
    }

    /// The name of its alerts.
    pub fn alert_name(&self) -> String {
        let own = self.conditions.first().map(|condition| condition.alert_name(self.for_s > 0));
        self.alert_name.clone().or(own).unwrap_or_default()
    }

    /// The geofences its conditions name, ascending by id.
    pub fn geofences(&self) -> Vec<GeofenceId> {
        let mut fences: Vec<GeofenceId> =
            self.conditions.iter().flat_map(|condition| condition.geofences().iter().copied()).collect();
        fences.sort_unstable();
        fences.dedup();
        fences
    }

    /// Whether it is a rule about silence, which is not evaluated on locations.
    pub fn watches_silence(&self) -> bool {
        self.silence().is_some()
    }

    /// Whether it is evaluated on locations.
    pub fn is_on_locations(&self) -> bool {
        !self.watches_silence() && !self.watches_trips()
    }

    /// The silence that makes it true, if it is a rule about silence.
    pub fn silence(&self) -> Option<Silence> {
        self.conditions.iter().find_map(|condition| match condition {
            Condition::Silence(silence) => Some(*silence),
            _ => None,
        })
    }

    /// Whether it evaluates as `before` did, so that its state stays valid. Targets do not count: a device that
    /// leaves and returns starts again in any case.
    pub fn evaluates_like(&self, before: &Self) -> bool {
        let times = |one: &Self| (one.enabled, one.for_s, one.cool_down_s, one.max_accuracy_m);
        times(self) == times(before)
            && (&self.conditions, &self.schedule) == (&before.conditions, &before.schedule)
    }

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 15] {
        [
            ("name", self.name != before.name),
            ("description", self.description != before.description),
            ("enabled", self.enabled != before.enabled),
            ("allDevices", self.target.all != before.target.all),
            ("devices", self.target.devices != before.target.devices),
            ("groups", self.target.groups != before.target.groups),
            ("conditions", self.conditions != before.conditions),
            ("forSeconds", self.for_s != before.for_s),
            ("coolDownSeconds", self.cool_down_s != before.cool_down_s),
            ("maxAccuracyMetres", self.max_accuracy_m != before.max_accuracy_m),
            ("schedule", self.schedule != before.schedule),
            ("alertName", self.alert_name != before.alert_name),
            ("text", self.text != before.text),
            ("critical", self.critical != before.critical),
            ("then", self.routing != before.routing),
        ]
    }
}
