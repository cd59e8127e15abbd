//! Methods of the store for timelines: deriving them in rounds that follow the location log, reading segments, and
//! setting their labels.

use std::collections::HashMap;

use async_trait::async_trait;

use super::Result;
use super::rule_engine::{AccountLease, CatchUp};
use crate::access::actor::{Actor, Scope};
use crate::id::{AccountId, DeviceId, DriverId, EditId, GroupId, SegmentId};
use crate::idempotency::{Created, IdempotencyKey};
use crate::locations::location::TimeRange;
use crate::revision::Revision;
use crate::time::Timestamp;
use crate::timeline::{
    Anchor, EditKind, Edits, Segment, SegmentKind, SegmentLabels, SettingsHolder, SettingsState,
    StoredOverrides, StoredSegment, TimelineEdit, TimelineOverrides, TimelineSettings, Totals, WalkEnd,
};

/// The state of an account at the start of a round of derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimelineRound {
    /// The account whose timelines are derived.
    pub account: AccountId,
    /// The log number up to which the log of the account was read.
    pub cursor: i64,
    /// Counts the committed transactions of rounds. A transaction is refused if another node has committed one with the
    /// same number.
    pub round: i64,
    /// Progress of marking existing devices, while their whole histories have to be derived. `None` when only the log is
    /// read.
    pub catch_up: Option<CatchUp>,
}

/// Devices to mark, and the progress of reading the log, to be committed together.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelineMarks {
    /// The state at the start of the round.
    pub round: TimelineRound,
    /// The log number up to which the log is read now.
    pub cursor: i64,
    /// The new progress of marking existing devices; `None` if all are marked.
    pub catch_up: Option<CatchUp>,
    /// The devices, each with the range of fix times of locations that its timeline does not consider yet.
    pub devices: Vec<(DeviceId, TimeRange)>,
    /// Whether the derived segments create no events, because the locations were stored long ago.
    pub quiet: bool,
}

/// A device whose timeline does not consider some locations yet.
#[derive(Clone, Debug, PartialEq)]
pub struct PendingTimeline {
    /// A device that is marked.
    pub device: DeviceId,
    /// The range of fix times of these locations.
    pub range: TimeRange,
    /// Number of times that the device was marked. A derivation is saved only if it has not changed.
    pub marks: i64,
    /// The newest anchor that does not depend on these locations.
    pub resume: Option<Anchor>,
    /// Stored anchors after these locations, in order.
    pub later: Vec<Anchor>,
    /// The settings that apply to the device.
    pub settings: TimelineSettings,
    /// What people corrected in its timeline.
    pub edits: Edits,
}

/// Newly derived segments of a part of a device's timeline.
#[derive(Clone, Debug, PartialEq)]
pub struct DerivedTimeline {
    /// The device that was derived.
    pub device: DeviceId,
    /// `marks` of the device, as read before its locations.
    pub marks: i64,
    /// The settings it was derived with.
    pub settings: TimelineSettings,
    /// Start of the part that is replaced; `None` for the beginning of the history.
    pub from: Option<Timestamp>,
    /// The fix time of the anchor from which the derivation was resumed; later stored anchors are replaced.
    pub anchors_after: Option<Timestamp>,
    /// End of the part that is replaced.
    pub end: WalkEnd,
    /// The new segments, in order.
    pub segments: Vec<Segment>,
    /// The new anchors, in order.
    pub anchors: Vec<Anchor>,
}

/// The result of committing derived timelines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TimelinesSaved {
    /// Whether the timelines were saved; false if another node has committed the round.
    pub saved: bool,
    /// Number of events that were written.
    pub events: usize,
}

/// The segments of a period.
#[derive(Clone, Debug, PartialEq)]
pub struct TimelinePage {
    /// Segments that overlap the period, not cut to it, in order.
    pub segments: Vec<StoredSegment>,
    /// Whether there are more segments after the last one.
    pub more: bool,
    /// Whether stored locations of the device are not considered yet.
    pub pending: bool,
}

/// The totals of a device in an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceTotals {
    /// The device.
    pub device: DeviceId,
    /// Which of the intervals, from 0.
    pub interval: usize,
    /// The sums.
    pub totals: Totals,
}

/// Whom a trip counts for.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DriverKey {
    /// A driver of the account.
    Known(DriverId),
    /// A name that a user wrote, or that of a deleted driver.
    Named(String),
    /// Nobody is known to have driven.
    Unknown,
}

/// The totals of the trips of a driver in an interval.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DriverTotals {
    /// The driver.
    pub driver: DriverKey,
    /// Which of the intervals, from 0.
    pub interval: usize,
    /// The sums over trips; stops and gaps count for nobody.
    pub totals: Totals,
}

/// A trip that no longer exists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RemovedTrip {
    /// The id it had.
    pub id: SegmentId,
    /// Its device.
    pub device: DeviceId,
    /// Its beginning at last.
    pub from: Timestamp,
    /// Its end at last.
    pub to: Timestamp,
    /// When it was removed.
    pub removed_at: Timestamp,
    /// Grows with every change of a segment of the account.
    pub change: i64,
}

/// Conditions that listed trips fulfil.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TripFilter {
    /// Only trips of this device.
    pub device: Option<DeviceId>,
    /// Only trips of devices in this group.
    pub group: Option<GroupId>,
    /// Only trips that end after this instant.
    pub from: Option<Timestamp>,
    /// Only trips that begin before this instant.
    pub to: Option<Timestamp>,
    /// Only trips that changed at or after this instant.
    pub updated_since: Option<Timestamp>,
    /// Only trips with this purpose.
    pub purpose: Option<String>,
    /// Only trips of this driver. As a filter, [`DriverKey::Named`] also finds drivers of the account by their name.
    pub driver: Option<DriverKey>,
    /// Only trips of at least this many metres.
    pub least_distance_m: Option<u64>,
}

/// Order of a list of trips, with the key of the last trip of the previous page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TripOrder {
    /// By the beginning of the trip, then by id.
    Time(Option<(Timestamp, SegmentId)>),
    /// By the number of the last change.
    Change(Option<i64>),
}

/// Segments of timelines: derivation, reads and labels.
#[async_trait]
pub trait Timelines: Send + Sync {
    /// Lists accounts with locations that no timeline considers yet.
    async fn accounts_with_timeline_work(&self) -> Result<Vec<AccountId>>;

    /// Leases the derivation of an account, unless another node has it.
    async fn lease_timelines(
        &self,
        account: AccountId,
        lease: AccountLease<'_>,
    ) -> Result<Option<TimelineRound>>;

    /// Marks devices and advances the cursor. Returns false if another node committed the round first.
    async fn mark_timelines(&self, marks: TimelineMarks, lease: AccountLease<'_>) -> Result<bool>;

    /// Lists up to `limit` devices with marked locations, by id.
    async fn pending_timelines(
        &self,
        account: AccountId,
        after: Option<DeviceId>,
        limit: u32,
    ) -> Result<Vec<PendingTimeline>>;

    /// Replaces parts of timelines and writes the events of their trips, in one transaction. Skips deleted devices, and
    /// devices that were marked again since their locations were read, which stay pending.
    async fn save_timelines(
        &self,
        round: TimelineRound,
        derived: Vec<DerivedTimeline>,
        lease: AccountLease<'_>,
    ) -> Result<TimelinesSaved>;

    /// Lists up to `limit` segments of a visible device that overlap the period, whose end is exclusive.
    async fn list_segments(
        &self,
        scope: Scope,
        device: DeviceId,
        period: TimeRange,
        kind: Option<SegmentKind>,
        limit: u32,
    ) -> Result<TimelinePage>;

    /// Lists up to `limit` trips of visible devices.
    async fn list_trips(
        &self,
        scope: Scope,
        filter: &TripFilter,
        order: TripOrder,
        limit: u32,
    ) -> Result<Vec<StoredSegment>>;

    /// Adds up the segments of the visible ones among these devices, between each two neighbouring limits. Sorted by
    /// device and interval; intervals without segments are left out.
    async fn sum_segments(
        &self,
        scope: Scope,
        devices: Vec<DeviceId>,
        limits: Vec<Timestamp>,
    ) -> Result<Vec<DeviceTotals>>;

    /// Adds up the trips of the visible ones among these devices by driver, between each two neighbouring limits. Sorted by
    /// driver and interval.
    async fn sum_driver_trips(
        &self,
        scope: Scope,
        devices: Vec<DeviceId>,
        limits: Vec<Timestamp>,
    ) -> Result<Vec<DriverTotals>>;

    /// The present names of drivers of the account, for totals of trips that the caller may see.
    async fn driver_names(&self, account: AccountId, ids: Vec<DriverId>)
    -> Result<HashMap<DriverId, String>>;

    /// Finds the drivers of at most `limit` segments again that a change of a driver, a tag or an assignment concerns.
    /// Returns whether there are more, or `None` if there were none.
    async fn resolve_drivers(&self, account: AccountId, limit: u32) -> Result<Option<bool>>;

    /// Lists up to `limit` removed trips of visible devices in the order of their removal, after a number of a change.
    /// Of the filter, only device, group, period and time of the change apply.
    async fn list_removed_trips(
        &self,
        scope: Scope,
        filter: &TripFilter,
        after: Option<i64>,
        limit: u32,
    ) -> Result<Vec<RemovedTrip>>;

    /// Finds a segment of a visible device.
    async fn find_segment(&self, scope: Scope, id: SegmentId) -> Result<Option<StoredSegment>>;

    /// Sets the labels of a segment.
    async fn label_segment(
        &self,
        actor: &Actor,
        id: SegmentId,
        seen: Revision,
        labels: SegmentLabels,
    ) -> Result<StoredSegment>;

    /// Adds an edit of the timeline of a visible device, which is derived again. An equal edit is returned as it is. A
    /// split inside of a merge is refused.
    async fn add_timeline_edit(
        &self,
        actor: &Actor,
        device: DeviceId,
        edit: (EditKind, TimeRange),
        once: Option<IdempotencyKey>,
    ) -> Result<Created<TimelineEdit>>;

    /// Lists the edits of a visible device, by time.
    async fn list_timeline_edits(&self, scope: Scope, device: DeviceId) -> Result<Vec<TimelineEdit>>;

    /// Finds an edit of a visible device.
    async fn find_timeline_edit(&self, scope: Scope, id: EditId) -> Result<Option<TimelineEdit>>;

    /// Deletes an edit of a visible device, which is derived again.
    async fn delete_timeline_edit(&self, actor: &Actor, id: EditId) -> Result<()>;

    /// The settings of a visible device or group, or of the account, with what applies and the progress of a change.
    async fn get_timeline_settings(&self, scope: Scope, holder: SettingsHolder) -> Result<SettingsState>;

    /// Replaces the settings of a level. The devices that they apply to are derived again, without events.
    async fn replace_timeline_settings(
        &self,
        actor: &Actor,
        holder: SettingsHolder,
        seen: Revision,
        overrides: TimelineOverrides,
    ) -> Result<StoredOverrides>;
}
