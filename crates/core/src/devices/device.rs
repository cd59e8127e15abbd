//! A device: its settings, its licence and whether it reports as expected.

use serde::{Deserialize, Serialize};

use crate::accounts::license::{DeviceState, License};
use crate::accounts::limits::{Counters, Limits};
use crate::devices::reporting_interval::ReportingInterval;
use crate::gateways::decoding::Decoding;
use crate::gateways::gateway::DeviceIdentifier;
use crate::id::{AccountId, DeviceId, FileId, GroupId, UserId};
use crate::revision::Revision;
use crate::text::Tags;
use crate::time::Timestamp;

/// A tracker, as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Device {
    /// Assigned by the service; never changes.
    pub id: DeviceId,
    /// The account it belongs to.
    pub account: AccountId,
    /// Counts the changes a client made.
    pub revision: Revision,
    /// Settings that a client can change.
    pub settings: DeviceSettings,
    /// Whether it held a licence when it was last written; see [`License`].
    pub licensed: bool,
    /// The instant from which it is expired. Computed once from the expiration date, so that a change of time zone
    /// does not move it.
    pub expires: Option<Timestamp>,
    /// Messages it caused on the account's current day.
    pub counters: Counters,
    /// When the service last received anything from it.
    pub last_seen: Option<Timestamp>,
    /// Reporting interval in seconds, learned from the times of its reports; `None` until there are enough of them.
    pub learned_interval_s: Option<u32>,
    /// Protocol of its last report, if it was received by a listener.
    pub protocol: Option<String>,
    /// The model reported in its own messages, if any.
    pub reported_model: Option<String>,
    /// Proposed time zone of its clock, in minutes ahead of UTC. Set when the times of all its newest fixes are wrong
    /// by the same multiple of half an hour.
    pub proposed_zone_minutes: Option<i32>,
    /// The photo that users set; another one has another id.
    #[serde(default)]
    pub photo: Option<FileId>,
    /// The user who created it; `None` for the operator.
    pub created_by: Option<UserId>,
    /// Set by the service on creation.
    pub creation: Timestamp,
    /// When a client last changed it.
    pub last_modified: Timestamp,
}

/// The settings of a device that a client can change.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DeviceSettings {
    /// The identifier of the hardware (IMEI, ESN, serial number); unique in the account.
    pub identifier: Option<String>,
    /// Further names under which it reports, by priority and then by name.
    #[serde(default)]
    pub identifiers: Vec<DeviceIdentifier>,
    /// Shown in lists, maps and messages; need not be unique.
    pub name: String,
    /// Free text for people.
    pub description: Option<String>,
    /// The mobile number of its SIM card (MIN).
    pub min: Option<String>,
    /// Labels as key and value, chosen by clients.
    pub tags: Tags,
    /// Name of its icon on the map.
    pub icon: Option<String>,
    /// Maker and model of the hardware, as free text.
    pub model: Option<String>,
    /// How its messages are read and its commands written, where that differs from the rest of its protocol.
    #[serde(default)]
    pub decoding: Decoding,
    /// The groups it is in, ascending.
    pub groups: Vec<GroupId>,
    /// Its expiry and daily limits.
    pub limits: Limits,
    /// Expected reporting interval in seconds; `None` uses the learned one.
    pub expected_interval_s: Option<u32>,
    /// Days its locations are kept; `None` uses the account's number.
    pub retention_days: Option<u32>,
}

impl DeviceSettings {
    /// Maximum number of groups a device may be in.
    pub const GROUPS_MAX: usize = 1_000;
    /// The longest expected interval: 31 days.
    pub const EXPECTED_INTERVAL_MAX_S: u32 = 2_678_400;

    /// The fields that differ from `before`, by their names in the API; written to the audit log.
    pub fn changes_since(&self, before: &Self) -> [(&'static str, bool); 13] {
        [
            ("identifier", self.identifier != before.identifier),
            ("identifiers", self.identifiers != before.identifiers),
            ("name", self.name != before.name),
            ("description", self.description != before.description),
            ("min", self.min != before.min),
            ("tags", self.tags != before.tags),
            ("icon", self.icon != before.icon),
            ("model", self.model != before.model),
            ("decoding", self.decoding != before.decoding),
            ("groups", self.groups != before.groups),
            ("limits", self.limits != before.limits),
            ("expectedIntervalSeconds", self.expected_interval_s != before.expected_interval_s),
            ("retentionDays", self.retention_days != before.retention_days),
        ]
    }
}

impl Device {
    /// Its licence, from which its state at any instant follows.
    pub const fn license(&self) -> License {
        License { licensed: self.licensed, expires: self.expires }
    }

    /// Whether it uses a licence at this instant.
    pub fn state(&self, now: Timestamp) -> DeviceState {
        self.license().state(now)
    }

    /// Its status, by the expected interval or else the learned one.
    pub fn status(&self, now: Timestamp) -> DeviceStatus {
        let interval_s = self.settings.expected_interval_s.or(self.learned_interval_s);
        DeviceStatus::of(self.last_seen, interval_s, now)
    }
}

/// Whether a device reports as often as expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DeviceStatus {
    /// A report was received within its reporting interval, with some slack.
    Online,
    /// Overdue, but not yet offline.
    Late,
    /// Overdue for a long time.
    Offline,
    /// Nothing was ever received from it.
    Never,
}

impl DeviceStatus {
    /// A device is not late before a report is overdue by this, in milliseconds.
    const LATE_SLACK_MS: i64 = 2 * 60 * 1000;
    /// A device is not offline before a report is overdue by this, in milliseconds.
    const OFFLINE_SLACK_MS: i64 = 10 * 60 * 1000;

    /// The status at `now` of a device whose last report was received at `last_seen`.
    ///
    /// One missed report is normal on satellite networks, so a device is late after two intervals and offline after
    /// six, but not before 2 and 10 minutes past the first interval.
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

    /// The last instants at which the device is not late, and not offline.
    pub fn limits(last_seen: Timestamp, interval_s: Option<u32>) -> (Timestamp, Timestamp) {
        let expected_ms = i64::from(interval_s.unwrap_or(ReportingInterval::DEFAULT_S)) * 1000;
        let after = |overdue_ms: i64| last_seen.plus_millis(expected_ms + overdue_ms);
        (after(expected_ms.max(Self::LATE_SLACK_MS)), after((5 * expected_ms).max(Self::OFFLINE_SLACK_MS)))
    }

    /// The status with this name in the API.
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

/// How a path names a device: by id or by hardware identifier.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DeviceRef {
    /// The id that the service assigned.
    Id(DeviceId),
    /// The identifier of the hardware.
    Identifier(String),
}

impl DeviceRef {
    /// Parses a path segment. Identifiers cannot begin with the prefix of ids, so both cannot be confused.
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
    /// Only devices in this group.
    pub group: Option<GroupId>,
    /// Only devices in this licence state.
    pub state: Option<DeviceState>,
    /// Only devices with this tag, as key and value.
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
