//! Following the log of locations: what a node needs to judge it, and how a round of judging ends.

use async_trait::async_trait;

use super::Result;
use crate::alert::Alert;
use crate::device::DeviceStatus;
use crate::geofence::Geofence;
use crate::id::{AccountId, DeviceId, GroupId};
use crate::location::StoredLocation;
use crate::rule::{Judgement, Rule, Trail};
use crate::time::Timestamp;

/// An account a node follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Followed {
    /// The account.
    pub account: AccountId,
    /// Up to which number its log was judged.
    pub cursor: i64,
    /// How many rounds that took; the next one is refused when another node has made it.
    pub round: i64,
    /// Counts the changes of its rules and geofences.
    pub rules_revision: i64,
    /// How far histories were judged in the place of a log that was trimmed, if that is under way.
    pub catching_up: Option<CatchingUp>,
    /// The store's present.
    pub now: Timestamp,
}

/// How far histories were judged in the place of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatchingUp {
    /// Those of devices up to this one, by id.
    pub after: DeviceId,
    /// Up to this number of the log, from which it is followed again in the end.
    pub end: i64,
}

/// Who goes on with an account, and for how long from the end of each of its rounds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lease<'o> {
    /// The node.
    pub owner: &'o str,
    /// Milliseconds.
    pub lasts_ms: i64,
}

/// What is known of a device that is to be judged.
#[derive(Clone, Debug, PartialEq)]
pub struct FollowedDevice {
    /// The device.
    pub device: DeviceId,
    /// The groups it is in.
    pub groups: Vec<GroupId>,
    /// What its rules know, as far as that was asked for.
    pub trail: Trail,
}

/// How much of what rules know of a device is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Depth {
    /// Nothing: somebody remembers it.
    Nothing,
    /// What they know now.
    Current,
    /// That, and what they knew before.
    Checkpoints,
}

/// How much of the log is skimmed at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SkimLimits {
    /// Locations passed over.
    pub locations: usize,
    /// Devices met.
    pub devices: usize,
    /// Locations that carry alerts.
    pub carriers: usize,
}

/// What a part of the log says without being read whole.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Skimmed {
    /// The devices that sent something, by id. Some may be gone.
    pub devices: Vec<DeviceId>,
    /// The locations that may carry alerts, in the order of arrival.
    pub carriers: Vec<(DeviceId, StoredLocation)>,
    /// How many locations there are in it.
    pub count: usize,
    /// When the first of them was received.
    pub oldest: Option<Timestamp>,
    /// The number to go on from.
    pub next: i64,
    /// Whether there may be something after it.
    pub more: bool,
}

/// How a device is heard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Watched {
    /// The device.
    pub device: DeviceId,
    /// The groups it is in.
    pub groups: Vec<GroupId>,
    /// The status that was last told; none when it was never heard before.
    pub told: Option<DeviceStatus>,
    /// When it was last heard.
    pub last_seen: Option<Timestamp>,
    /// How often it reports, in seconds, as set or as learned.
    pub interval_s: Option<u32>,
}

/// A device whose status is to be told, or looked at again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// The device.
    pub device: DeviceId,
    /// The status that was told before.
    pub from: Option<DeviceStatus>,
    /// The status now.
    pub to: DeviceStatus,
    /// When to look again.
    pub due: Timestamp,
}

/// What a round found out about one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceRound {
    /// The device.
    pub device: DeviceId,
    /// Alerts its locations carry.
    pub carried: Vec<Alert>,
    /// What its rules say, if they were asked.
    pub judgement: Option<Judgement>,
    /// Whether what they know now is to be kept; otherwise it follows from what was kept and the history.
    pub save: bool,
    /// When it was last heard, where that was looked at.
    pub last_seen: Option<Timestamp>,
    /// Alerts of rules about its silence that begin, and when.
    pub silent: Vec<(crate::id::RuleId, Timestamp)>,
    /// Rules about its silence that hold no more.
    pub heard: Vec<crate::id::RuleId>,
}

/// What one round of judging an account found out.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The account as it was when the round began.
    pub followed: Followed,
    /// Up to which number its log is judged now.
    pub cursor: i64,
    /// How far histories are judged instead, if that is under way.
    pub catching_up: Option<CatchingUp>,
    /// What to say of each rule: the name, text and weight of its alerts.
    pub rules: Vec<Rule>,
    /// The devices.
    pub devices: Vec<DeviceRound>,
    /// What changes of how devices are heard.
    pub statuses: Vec<StatusChange>,
}

/// Judging what arrives.
#[async_trait]
pub trait Following: Send + Sync {
    /// The accounts in whose log something was not judged yet, or of which something is due.
    async fn accounts_to_follow(&self) -> Result<Vec<AccountId>>;

    /// Goes on with an account for so long, unless another node does.
    async fn follow_account(&self, account: AccountId, lease: Lease<'_>) -> Result<Option<Followed>>;

    /// What an account's log says after this number, up to one of the limits.
    async fn skim_log(&self, account: AccountId, after: i64, limits: SkimLimits) -> Result<Skimmed>;

    /// The locations of these devices in the log after the first number and up to the second, in the order of arrival.
    async fn read_log(
        &self,
        account: AccountId,
        part: (i64, i64),
        devices: &[DeviceId],
    ) -> Result<Vec<(DeviceId, StoredLocation)>>;

    /// The rules and geofences of an account, and the revision they are at.
    async fn load_rules(&self, account: AccountId) -> Result<(i64, Vec<Rule>, Vec<Geofence>)>;

    /// What is known of these devices; those that are gone are left out.
    async fn load_followed(
        &self,
        account: AccountId,
        devices: &[DeviceId],
        depth: Depth,
    ) -> Result<Vec<FollowedDevice>>;

    /// Devices of which a rule will hold by now if no location came, up to so many.
    async fn due_by_rule(&self, account: AccountId, limit: u32) -> Result<Vec<DeviceId>>;

    /// Those of these devices that were heard for the first time or were not online, and up to so many that are to be
    /// looked at again.
    async fn load_watched(&self, account: AccountId, heard: &[DeviceId], limit: u32) -> Result<Vec<Watched>>;

    /// The devices of an account after this one, by id.
    async fn list_followed(
        &self,
        account: AccountId,
        after: Option<DeviceId>,
        limit: u32,
    ) -> Result<Vec<DeviceId>>;

    /// Keeps what a round found out: raises and ends alerts, tells of statuses and moves the cursor, all or nothing.
    /// Refused when another node has made the round, or the rules have changed meanwhile. Whoever still has the lease
    /// has it anew from then on.
    async fn finish_round(&self, round: Round, lease: Lease<'_>) -> Result<bool>;
}
