//! A rule as it is kept.

use serde::{Deserialize, Serialize};

use super::{Condition, Silence};
use crate::id::{AccountId, DeviceId, GeofenceId, GroupId, RuleId};
use crate::revision::Revision;
use crate::schedule::Schedule;
use crate::time::Timestamp;
use crate::zone::Zone;

/// What raises alerts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Rule {
    /// Its id.
    pub id: RuleId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// What a client sets.
    pub settings: RuleSettings,
    /// Counts the changes of what it judges by, those of its geofences included: each begins anew.
    pub generation: i64,
    /// Since when it judges so; locations taken before are none of its business.
    pub since: Timestamp,
    /// When it was made.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// What a client sets of a rule.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct RuleSettings {
    /// Its name, and what its alerts say unless a text is given.
    pub name: String,
    /// A note about it.
    pub description: Option<String>,
    /// Whether it judges at all.
    pub enabled: bool,
    /// Whom it judges.
    pub target: RuleTarget,
    /// What must be true at once.
    pub conditions: Vec<Condition>,
    /// How long it must be true before an alert is raised, in seconds.
    pub for_s: u32,
    /// How long after an alert no other is raised, in seconds.
    pub cool_down_s: u32,
    /// When it holds, by the clock it names; always when absent.
    pub schedule: Option<Schedule>,
    /// The name of its alerts; that of its first condition when absent.
    pub alert_name: Option<String>,
    /// What its alerts say; its own name when absent.
    pub text: Option<String>,
    /// Whether its alerts cannot wait.
    pub critical: bool,
}

/// Whom a rule judges.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleTarget {
    /// Every device of the account.
    pub all: bool,
    /// These devices, ascending.
    pub devices: Vec<DeviceId>,
    /// The devices of these groups, ascending.
    pub groups: Vec<GroupId>,
}

impl RuleTarget {
    /// Devices or groups a rule may name.
    pub const MOST: usize = 1_000;
}

impl Rule {
    /// When it holds of a device that is silent since then, if it judges silence: at once, or when its hours begin. What
    /// was silent before it was made is told when its hours begin after that.
    pub fn silence_from(&self, since: Timestamp) -> Option<Timestamp> {
        if self.settings.schedule.is_none() {
            return Some(since);
        }
        let from = self.settings.next_holding(since.max(self.since))?;
        (since >= self.since || from > self.since).then_some(from)
    }

    /// From when on a rule judges that is made or changed now: trackers date by whole seconds, and what they take in this
    /// second is later than what they took before.
    pub const fn since(now: Timestamp) -> Timestamp {
        now.plus_millis(-now.as_millis().rem_euclid(1_000))
    }
}

impl RuleSettings {
    /// Whether it holds at this instant.
    pub fn holds_at(&self, instant: Timestamp) -> bool {
        self.schedule.as_ref().is_none_or(|schedule| schedule.contains(instant, const { &Zone::utc() }))
    }

    /// The first instant from this one on at which it holds, if there is one.
    pub fn next_holding(&self, instant: Timestamp) -> Option<Timestamp> {
        match &self.schedule {
            Some(schedule) => schedule.next(instant, const { &Zone::utc() }),
            None => Some(instant),
        }
    }

    /// Rules an account may have.
    pub const MOST: u32 = 1_000;
    /// Conditions a rule may have.
    pub const CONDITIONS_MOST: usize = 8;
    /// The longest time anything in a rule can take: 31 days.
    pub const SECONDS_MOST: u32 = 2_678_400;

    /// The name its alerts have.
    pub fn alert_name(&self) -> String {
        let own = self.conditions.first().map(|condition| condition.alert_name(self.for_s > 0));
        self.alert_name.clone().or(own).unwrap_or_default()
    }

    /// The geofences it looks at, ascending.
    pub fn geofences(&self) -> Vec<GeofenceId> {
        let mut fences: Vec<GeofenceId> =
            self.conditions.iter().flat_map(|condition| condition.geofences().iter().copied()).collect();
        fences.sort_unstable();
        fences.dedup();
        fences
    }

    /// Whether it judges silence, which no location tells of.
    pub fn judges_silence(&self) -> bool {
        self.silence().is_some()
    }

    /// The silence it judges.
    pub fn silence(&self) -> Option<Silence> {
        self.conditions.iter().find_map(|condition| match condition {
            Condition::Silence(silence) => Some(*silence),
            _ => None,
        })
    }

    /// Whether it judges as before. Its targets do not count: who leaves and comes back begins anew anyway.
    pub fn judges_like(&self, before: &Self) -> bool {
        (self.enabled, self.for_s, self.cool_down_s) == (before.enabled, before.for_s, before.cool_down_s)
            && (&self.conditions, &self.schedule) == (&before.conditions, &before.schedule)
    }

    /// The members in which it differs from what was before, by their names in the API.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 13] {
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
            ("schedule", self.schedule != before.schedule),
            ("alertName", self.alert_name != before.alert_name),
            ("text", self.text != before.text),
            ("critical", self.critical != before.critical),
        ]
    }
}
