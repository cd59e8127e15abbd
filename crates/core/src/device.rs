//! A device: a tracker, what is known of it and how it stands.

use serde::{Deserialize, Serialize};

use crate::id::{AccountId, DeviceId, GroupId, UserId};
use crate::license::{DeviceState, License};
use crate::limits::{Counters, Limits};
use crate::revision::Revision;
use crate::rhythm::Rhythm;
use crate::text::Tags;
use crate::time::Timestamp;

/// A tracker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Its id, made by us.
    pub id: DeviceId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// What a client sets.
    pub settings: DeviceSettings,
    /// Whether it holds a licence, unless that ran out since.
    pub licensed: bool,
    /// The instant from which it is expired, fixed when the date was set.
    pub expires: Option<Timestamp>,
    /// What it sent on the account's present day.
    pub counters: Counters,
    /// When it was last heard.
    pub last_seen: Option<Timestamp>,
    /// How often it reports, in seconds, as learned from when it was heard.
    pub learned_interval_s: Option<u32>,
    /// The protocol it last spoke.
    pub protocol: Option<String>,
    /// Who made it.
    pub created_by: Option<UserId>,
    /// When it was made.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// What a client sets of a device.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSettings {
    /// What the hardware says of itself: IMEI, ESN, serial; unique in the account.
    pub identifier: Option<String>,
    /// Its name.
    pub name: String,
    /// A note about it.
    pub description: Option<String>,
    /// Its mobile number.
    pub min: Option<String>,
    /// Free labels.
    pub tags: Tags,
    /// The icon it is drawn with.
    pub icon: Option<String>,
    /// What kind of hardware it is.
    pub model: Option<String>,
    /// The groups it is in, ascending.
    pub groups: Vec<GroupId>,
    /// Its expiry and daily limits.
    pub limits: Limits,
    /// How often it is expected to report, in seconds.
    pub expected_interval_s: Option<u32>,
    /// How many days its locations are kept; none is as its account says.
    pub retention_days: Option<u32>,
}

impl DeviceSettings {
    /// Groups a device may be in.
    pub const GROUPS_MAX: usize = 1_000;
    /// The longest expected interval: 31 days.
    pub const EXPECTED_INTERVAL_MAX_S: u32 = 2_678_400;

    /// The members in which it differs from what was before, by their names in the API.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 11] {
        [
            ("identifier", self.identifier != before.identifier),
            ("name", self.name != before.name),
            ("description", self.description != before.description),
            ("min", self.min != before.min),
            ("tags", self.tags != before.tags),
            ("icon", self.icon != before.icon),
            ("model", self.model != before.model),
            ("groups", self.groups != before.groups),
            ("limits", self.limits != before.limits),
            ("expectedIntervalSeconds", self.expected_interval_s != before.expected_interval_s),
            ("retentionDays", self.retention_days != before.retention_days),
        ]
    }
}

impl Device {
    /// How it stands with the account's licences.
    pub const fn license(&self) -> License {
        License { licensed: self.licensed, expires: self.expires }
    }

    /// Whether it uses a licence at this instant.
    pub fn state(&self, now: Timestamp) -> DeviceState {
        self.license().state(now)
    }

    /// Whether it reports as it should: as it was set, or else as it was learned.
    pub fn status(&self, now: Timestamp) -> DeviceStatus {
        let interval_s = self.settings.expected_interval_s.or(self.learned_interval_s);
        DeviceStatus::of(self.last_seen, interval_s, now)
    }
}

/// Whether a device reports as it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceStatus {
    /// Heard within its interval.
    Online,
    /// Overdue, but not for long.
    Late,
    /// Overdue for long.
    Offline,
    /// Not heard yet.
    Never,
}

impl DeviceStatus {
    /// How much a report may be overdue at the least before its device is late, in milliseconds.
    const LATE_SLACK_MS: i64 = 2 * 60 * 1000;
    /// How much a report may be overdue at the least before its device is offline, in milliseconds.
    const OFFLINE_SLACK_MS: i64 = 10 * 60 * 1000;

    /// The status of a device last heard then, at this instant.
    ///
    /// One missed report is ordinary by satellite, so a device is late after two intervals and offline
    /// after six; however short the interval, not before two and ten minutes more than it.
    pub fn of(last_seen: Option<Timestamp>, interval_s: Option<u32>, now: Timestamp) -> Self {
        let Some(last_seen) = last_seen else { return Self::Never };
        let (late, offline) = Self::limits(last_seen, interval_s);
        if now <= late {
            Self::Online
        } else if now <= offline {
            Self::Late
        } else {
            Self::Offline
        }
    }

    /// The last instants at which a device last heard then is not late, and not offline.
    pub fn limits(last_seen: Timestamp, interval_s: Option<u32>) -> (Timestamp, Timestamp) {
        let expected_ms = i64::from(interval_s.unwrap_or(Rhythm::DEFAULT_S)) * 1000;
        let after = |overdue_ms: i64| last_seen.plus_millis(expected_ms + overdue_ms);
        (after(expected_ms.max(Self::LATE_SLACK_MS)), after((5 * expected_ms).max(Self::OFFLINE_SLACK_MS)))
    }

    /// The status of this name.
    pub fn named(name: &str) -> Option<Self> {
        [Self::Online, Self::Late, Self::Offline, Self::Never]
            .into_iter()
            .find(|status| status.name() == name)
    }

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Online => "online",
            Self::Late => "late",
            Self::Offline => "offline",
            Self::Never => "never",
        }
    }
}

/// How a path names a device: by our id or by what the hardware says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceRef {
    /// Our id.
    Id(DeviceId),
    /// The hardware's identifier.
    Identifier(String),
}

impl DeviceRef {
    /// Reads a path segment; identifiers never begin with the reserved prefix, so there is no doubt.
    pub fn read(text: &str) -> Self {
        match text.parse() {
            Ok(id) => Self::Id(id),
            Err(_not_ours) => Self::Identifier(text.to_owned()),
        }
    }
}

/// Which devices to list.
#[derive(Clone, Debug, Default)]
pub struct DeviceFilter {
    /// Part of the name, identifier or description, in any case.
    pub text: Option<String>,
    /// In this group.
    pub group: Option<GroupId>,
    /// In this state.
    pub state: Option<DeviceState>,
    /// Carrying this tag.
    pub tag: Option<(String, String)>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_silent_device_becomes_late_and_then_offline() {
        use DeviceStatus::{Late, Offline, Online};
        let seen = Timestamp::from_millis(1_800_000_000_000);
        let check = |interval_s: Option<u32>, silence_s: i64, expect| {
            let status = DeviceStatus::of(Some(seen), interval_s, seen.plus_seconds(silence_s));
            assert_eq!(status, expect, "every {interval_s:?} s, silent for {silence_s} s");
        };
        for (interval_s, late_s, offline_s) in [
            (Some(1), 121, 601),
            (Some(10), 130, 610),
            (Some(60), 180, 660),
            (Some(120), 240, 720),
            (Some(600), 1_200, 3_600),
            (None, 7_200, 21_600),
            (Some(86_400), 172_800, 518_400),
        ] {
            check(interval_s, 0, Online);
            check(interval_s, late_s, Online);
            check(interval_s, late_s + 1, Late);
            check(interval_s, offline_s, Late);
            check(interval_s, offline_s + 1, Offline);
        }
        check(Some(10), -500, Online);
        assert_eq!(DeviceStatus::of(None, Some(10), seen), DeviceStatus::Never);
    }
}
