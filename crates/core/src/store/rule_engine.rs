//! Methods of the store for the rule engine, which evaluates the location log of an account in rounds.

use async_trait::async_trait;

use super::Result;
use crate::alerts::alert::Alert;
use crate::devices::device::DeviceStatus;
use crate::id::{AccountId, DeviceId, GroupId};
use crate::locations::geofence::Geofence;
use crate::locations::location::StoredLocation;
use crate::rules::rule::{Evaluation, Rule, Trail};
use crate::time::Timestamp;

/// The state of an account at the start of a round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoundStart {
    /// The account that is evaluated.
    pub account: AccountId,
    /// The number up to which its log was evaluated.
    pub cursor: i64,
    /// Counts the rounds. A round is refused if another node has committed the same number.
    pub round: i64,
    /// Grows with every change of a rule or geofence of the account.
    pub rules_revision: i64,
    /// Progress of catching up from histories, if the log was trimmed before it was evaluated.
    pub catch_up: Option<CatchUp>,
    /// The time of the store.
    pub now: Timestamp,
}

/// Progress of evaluating histories instead of a trimmed log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CatchUp {
    /// Devices up to this id are done.
    pub after: DeviceId,
    /// The number of the log from which normal rounds continue afterwards.
    pub end: i64,
}

/// A lease on an account, extended at the end of each round.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AccountLease<'o> {
    /// Identifies the node that holds it.
    pub owner: &'o str,
    /// How long it lasts, in milliseconds.
    pub duration_ms: i64,
}

/// The rule state of a device to be evaluated.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceTrail {
    /// The device to be evaluated.
    pub device: DeviceId,
    /// The groups it is in.
    pub groups: Vec<GroupId>,
    /// Its trail, as far as requested.
    pub trail: Trail,
}

/// How much of a trail to load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TrailDepth {
    /// Nothing, because it is cached.
    Nothing,
    /// Only the current snapshot.
    Current,
    /// The current snapshot and all checkpoints.
    Checkpoints,
}

/// Limits of one scan of the log; it stops at the first that is reached.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LogScanLimits {
    /// Locations that may be scanned.
    pub locations: usize,
    /// Distinct devices that may be found.
    pub devices: usize,
    /// Locations with alerts that may be returned.
    pub carriers: usize,
}

/// The result of scanning a part of the log without unpacking all of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LogScan {
    /// The devices in it, by id. Some may have been deleted since.
    pub devices: Vec<DeviceId>,
    /// Locations that may carry alerts, in order of arrival.
    pub carriers: Vec<(DeviceId, StoredLocation)>,
    /// Number of locations in it.
    pub count: usize,
    /// When the first of them arrived.
    pub oldest: Option<Timestamp>,
    /// The number from which to continue.
    pub next: i64,
    /// Whether there may be more after it.
    pub more: bool,
}

/// The values from which the status of a device is computed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StatusCheck {
    /// The device to be checked.
    pub device: DeviceId,
    /// The groups it is in.
    pub groups: Vec<GroupId>,
    /// The status announced last; `None` before the first.
    pub announced: Option<DeviceStatus>,
    /// When the service last received anything from it.
    pub last_seen: Option<Timestamp>,
    /// Reporting interval in seconds, as set or learned.
    pub interval_s: Option<u32>,
    /// When it was created.
    pub created: Timestamp,
    /// The end of its last trip, if that was asked for and it made one.
    pub last_trip: Option<Timestamp>,
}

/// A status to announce, or a time at which to check again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StatusChange {
    /// The device whose status it is.
    pub device: DeviceId,
    /// The status announced before.
    pub from: Option<DeviceStatus>,
    /// The status at the time of the check.
    pub to: DeviceStatus,
    /// When to check it again.
    pub due: Timestamp,
}

/// The results of a round for one device.
#[derive(Clone, Debug, PartialEq)]
pub struct DeviceRound {
    /// The device that was evaluated.
    pub device: DeviceId,
    /// Alerts that its locations carry.
    pub carried: Vec<Alert>,
    /// The result of its rules, if they were evaluated.
    pub evaluation: Option<Evaluation>,
    /// Whether to store the new snapshot. If not, it can be recomputed from the stored one and the history.
    pub save: bool,
    /// When it last reported, if that was loaded.
    pub last_seen: Option<Timestamp>,
    /// Rules about silence that became true, and when.
    pub silent: Vec<(crate::id::RuleId, Timestamp)>,
    /// Rules about silence that are false again.
    pub heard: Vec<crate::id::RuleId>,
    /// Rules about the time without a trip that are true. Most of them have raised their alert already.
    pub absent: Vec<crate::id::RuleId>,
}

/// The results of one round for an account, to be committed together.
#[derive(Clone, Debug, PartialEq)]
pub struct Round {
    /// The state at the start of the round.
    pub round_start: RoundStart,
    /// Number in the log up to which everything is evaluated.
    pub cursor: i64,
    /// The new progress of catching up, if that is in progress.
    pub catch_up: Option<CatchUp>,
    /// The rules involved, for name, text and severity of their alerts.
    pub rules: Vec<Rule>,
    /// The devices that were evaluated.
    pub devices: Vec<DeviceRound>,
    /// Status changes to announce.
    pub statuses: Vec<StatusChange>,
}

/// Methods of the store for the rule engine.
#[async_trait]
pub trait RuleEngineStore: Send + Sync {
    /// Lists accounts with unevaluated locations or due checks.
    async fn accounts_with_work(&self) -> Result<Vec<AccountId>>;

    /// Leases an account, unless another node has it.
    async fn lease_account(&self, account: AccountId, lease: AccountLease<'_>) -> Result<Option<RoundStart>>;

    /// Scans an account's log after a number, up to one of the limits.
    async fn scan_log(&self, account: AccountId, after: i64, limits: LogScanLimits) -> Result<LogScan>;

    /// Reads the locations of these devices in the log after the first number and up to the second, in order of
    /// arrival.
    async fn read_log(
        &self,
        account: AccountId,
        part: (i64, i64),
        devices: &[DeviceId],
    ) -> Result<Vec<(DeviceId, StoredLocation)>>;

    /// Loads the rules of an account and the geofences they refer to, with their revision.
    async fn load_rules(&self, account: AccountId) -> Result<(i64, Vec<Rule>, Vec<Geofence>)>;

    /// Loads the trails of these devices; deleted devices are left out.
    async fn load_trails(
        &self,
        account: AccountId,
        devices: &[DeviceId],
        depth: TrailDepth,
    ) -> Result<Vec<DeviceTrail>>;

    /// Lists up to `limit` devices for which a rule has become true by time alone.
    async fn devices_due(&self, account: AccountId, limit: u32) -> Result<Vec<DeviceId>>;

    /// Loads those of the devices in `heard` that are new or were not online, and up to `limit` devices whose check
    /// is due. `with_trips` is whether the end of the last trip is needed.
    async fn load_status_checks(
        &self,
        account: AccountId,
        heard: &[DeviceId],
        limit: u32,
        with_trips: bool,
    ) -> Result<Vec<StatusCheck>>;

    /// Lists device ids of an account after this one, ascending.
    async fn list_device_ids(
        &self,
        account: AccountId,
        after: Option<DeviceId>,
        limit: u32,
    ) -> Result<Vec<DeviceId>>;

    /// Commits a round: raises and ends alerts, announces statuses and moves the cursor, in one transaction. Returns
    /// false if another node committed the round first, or the rules changed meanwhile. Extends the lease if the node
    /// still has it.
    async fn finish_round(&self, round: Round, lease: AccountLease<'_>) -> Result<bool>;
}
