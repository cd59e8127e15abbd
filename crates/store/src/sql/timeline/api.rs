//! The `Timelines` trait.

use std::collections::HashMap;

use futures_util::FutureExt as _;
use perigee_core::access::actor::{Actor, Scope};
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId, DriverId, EditId, SegmentId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::locations::location::TimeRange;
use perigee_core::revision::Revision;
use perigee_core::store::{
    AccountLease, DerivedTimeline, DeviceTotals, DriverTotals, PendingTimeline, RemovedTrip, Result,
    TimelineMarks, TimelinePage, TimelineRound, Timelines, TimelinesSaved, TripFilter, TripOrder,
};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{
    EditKind, SegmentKind, SegmentLabels, SettingsHolder, SettingsState, StoredOverrides, StoredSegment,
    TimelineEdit, TimelineOverrides,
};

use super::{drivers, edits, follow, label, mark, pending, read, removed, save, settings, totals};
use crate::Database;
use crate::forward::forward;
use crate::sql::drivers::names;

async fn lease_timelines(
    database: &Database,
    account: AccountId,
    lease: AccountLease<'_>,
) -> Result<Option<TimelineRound>> {
    let (owner, duration_ms) = (lease.owner.to_owned(), lease.duration_ms);
    let mine = database.read(move |tx| follow::find_own(tx, account, owner, duration_ms).boxed()).await?;
    if mine.is_some() {
        return Ok(mine);
    }
    let owner = lease.owner.to_owned();
    database.write(move |tx| follow::take(tx, account, owner, duration_ms).boxed()).await
}

async fn mark_timelines(database: &Database, marks: TimelineMarks, lease: AccountLease<'_>) -> Result<bool> {
    let lease = (lease.owner.to_owned(), lease.duration_ms);
    database.write(move |tx| mark::commit(tx, marks, lease).boxed()).await
}

async fn save_timelines(
    database: &Database,
    round: TimelineRound,
    derived: Vec<DerivedTimeline>,
    lease: AccountLease<'_>,
) -> Result<TimelinesSaved> {
    let lease = (lease.owner.to_owned(), lease.duration_ms);
    // Serialising thousands of anchors takes long, so it runs on a blocking thread.
    let work = move || {
        let serialised = |one: DerivedTimeline| save::serialise(&one.anchors).map(|anchors| (one, anchors));
        derived.into_iter().map(serialised).collect::<Result<Vec<_>>>()
    };
    let done = tokio::task::spawn_blocking(work).await;
    let derived = done.map_err(|lost| StoreError::Internal(lost.into()))??;
    #[cfg(feature = "unsafe-early-timelines")]
    if crate::early_timelines::is_on() {
        let settled = database.write(move |tx| save::settle_early(tx, round, derived, lease).boxed()).await?;
        // A kill rarely hits a shorter time.
        tokio::time::sleep(std::time::Duration::from_millis(300)).await;
        return database.write(move |tx| save::store_late(tx, round.account, settled).boxed()).await;
    }
    database.write(move |tx| save::save(tx, round, derived, lease).boxed()).await
}

forward! {
    impl Timelines for Database {
        read accounts_with_timeline_work(&self) -> Vec<AccountId> = follow::accounts;
        run lease_timelines(&self, account: AccountId, lease: AccountLease<'_>)
            -> Option<TimelineRound> = lease_timelines;
        run mark_timelines(&self, marks: TimelineMarks, lease: AccountLease<'_>) -> bool = mark_timelines;
        read_snapshot pending_timelines(&self, account: AccountId, after: Option<DeviceId>, limit: u32)
            -> Vec<PendingTimeline> = pending::list;
        run save_timelines(
            &self, round: TimelineRound, derived: Vec<DerivedTimeline>, lease: AccountLease<'_>
        ) -> TimelinesSaved = save_timelines;
        read_snapshot list_segments(
            &self, scope: Scope, device: DeviceId, period: TimeRange, kind: Option<SegmentKind>, limit: u32
        ) -> TimelinePage = read::list;
        read list_trips(&self, scope: Scope, &filter: TripFilter, order: TripOrder, limit: u32)
            -> Vec<StoredSegment> = read::trips;
        read_snapshot sum_segments(&self, scope: Scope, devices: Vec<DeviceId>, limits: Vec<Timestamp>)
            -> Vec<DeviceTotals> = totals::sum;
        read_snapshot sum_driver_trips(&self, scope: Scope, devices: Vec<DeviceId>, limits: Vec<Timestamp>)
            -> Vec<DriverTotals> = totals::sum_by_driver;
        read driver_names(&self, account: AccountId, ids: Vec<DriverId>)
            -> HashMap<DriverId, String> = names(account, &ids);
        run resolve_drivers(&self, account: AccountId, limit: u32)
            -> Option<bool> = drivers::resolve_again;
        read find_segment(&self, scope: Scope, id: SegmentId)
            -> Option<StoredSegment> = read::find;
        write label_segment(
            &self, &actor: Actor, id: SegmentId, seen: Revision, labels: SegmentLabels
        ) -> StoredSegment = label::set;
        read list_removed_trips(&self, scope: Scope, &filter: TripFilter, after: Option<i64>, limit: u32)
            -> Vec<RemovedTrip> = removed::list;
        write add_timeline_edit(
            &self, &actor: Actor, device: DeviceId, edit: (EditKind, TimeRange), once: Option<IdempotencyKey>
        ) -> Created<TimelineEdit> = edits::add;
        read list_timeline_edits(&self, scope: Scope, device: DeviceId) -> Vec<TimelineEdit> = edits::list;
        read find_timeline_edit(&self, scope: Scope, id: EditId) -> Option<TimelineEdit> = edits::find;
        write delete_timeline_edit(&self, &actor: Actor, id: EditId) -> () = edits::delete;
        read_snapshot get_timeline_settings(&self, scope: Scope, holder: SettingsHolder)
            -> SettingsState = settings::get;
        write replace_timeline_settings(
            &self, &actor: Actor, holder: SettingsHolder, seen: Revision, overrides: TimelineOverrides
        ) -> StoredOverrides = settings::replace;
    }
}
