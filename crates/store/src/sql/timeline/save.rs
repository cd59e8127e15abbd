//! Replaces parts of timelines with newly derived segments, and writes their events, in one transaction.

use std::collections::HashSet;

use perigee_core::access::actor::Scope;
use perigee_core::id::{AccountId, DeviceId, SegmentId};
use perigee_core::revision::Revision;
use perigee_core::store::{DerivedTimeline, Result, TimelineRound, TimelinesSaved};
use perigee_core::time::Timestamp;
use perigee_core::timeline::{Anchor, StoredSegment, WalkEnd};

use super::changes::Changes;
use super::follow;
use super::reconcile::reconcile;
use super::row::{COLUMNS, from_row};
use super::settings;
use crate::sql::query::insert_many;
use crate::sql::scope::visible_devices;
use crate::sql::{drivers, ids};
use crate::{Tx, params};

/// Anchors to store: fix time, settled time and serialised state. They are serialised outside of the transaction.
pub(super) type Serialised = Vec<(Timestamp, Timestamp, String)>;

/// Serialises the anchors of a derived timeline.
pub(super) fn serialise(anchors: &[Anchor]) -> Result<Serialised> {
    let one = |anchor: &Anchor| {
        let state = serde_json::to_string(anchor)
            .map_err(|cause| perigee_core::error::StoreError::Internal(cause.into()))?;
        Ok((anchor.at, anchor.settled, state))
    };
    anchors.iter().map(one).collect()
}

/// Saves derived timelines, unless another node has committed the round.
pub(super) async fn save(
    tx: &Tx,
    round: TimelineRound,
    derived: Vec<(DerivedTimeline, Serialised)>,
    lease: (String, i64),
) -> Result<TimelinesSaved> {
    let account = round.account;
    tx.lock_account_beside(account).await?;
    if !follow::advance(tx, &round, round.cursor, round.catch_up, lease).await? {
        return Ok(TimelinesSaved::default());
    }
    let named: HashSet<DeviceId> = derived.iter().map(|(one, _)| one.device).collect();
    // Devices that were deleted meanwhile are skipped.
    let existing = visible_devices(tx, Scope::for_store_check(account), named).await?;
    let mut changes = Changes::new(account);
    for (one, anchors) in derived {
        if existing.contains(&one.device)
            && let Some(is_quiet) = settle(tx, account, &one).await?
        {
            replace_anchors(tx, account, &one, anchors).await?;
            replace(tx, account, one, is_quiet, &mut changes).await?;
        }
    }
    let events = changes.save(tx).await?;
    Ok(TimelinesSaved { saved: true, events })
}

/// Derived timelines, each with its anchors and the `quiet` of its device.
#[cfg(feature = "unsafe-early-timelines")]
pub(super) type Settled = Vec<(DerivedTimeline, Serialised, bool)>;

/// Removes the marks of derived timelines without storing anything: the defect that the fault harness must catch.
#[cfg(feature = "unsafe-early-timelines")]
pub(super) async fn settle_early(
    tx: &Tx,
    round: TimelineRound,
    derived: Vec<(DerivedTimeline, Serialised)>,
    lease: (String, i64),
) -> Result<Settled> {
    tx.lock_account_beside(round.account).await?;
    let mut settled = Vec::new();
    if follow::advance(tx, &round, round.cursor, round.catch_up, lease).await? {
        for (one, anchors) in derived {
            if let Some(is_quiet) = settle(tx, round.account, &one).await? {
                settled.push((one, anchors, is_quiet));
            }
        }
    }
    Ok(settled)
}

/// Stores timelines whose marks are removed already.
#[cfg(feature = "unsafe-early-timelines")]
pub(super) async fn store_late(tx: &Tx, account: AccountId, settled: Settled) -> Result<TimelinesSaved> {
    tx.lock_account_beside(account).await?;
    let mut changes = Changes::new(account);
    for (one, anchors, is_quiet) in settled {
        replace_anchors(tx, account, &one, anchors).await?;
        replace(tx, account, one, is_quiet, &mut changes).await?;
    }
    let events = changes.save(tx).await?;
    Ok(TimelinesSaved { saved: true, events })
}

/// Removes the mark of a device, or shortens it if only a part was derived. Returns the `quiet` of the device, or `None`
/// if it was marked again after its locations were read.
async fn settle(tx: &Tx, account: AccountId, one: &DerivedTimeline) -> Result<Option<bool>> {
    let used = settings::kept(&one.settings)?;
    let row = match one.end {
        WalkEnd::Newest | WalkEnd::Joined(..) => {
            let sql = "UPDATE timeline_device SET dirty_from = NULL, dirty_to = NULL, settings = ?4 \
                       WHERE account_id = ?1 AND device_id = ?2 AND marks = ?3 AND dirty_from IS NOT NULL \
                       RETURNING quiet";
            tx.query_opt(sql, params![account, one.device, one.marks, used]).await?
        }
        WalkEnd::Part(_, settled) => {
            let sql = "UPDATE timeline_device SET dirty_from = ?4, \
                           dirty_to = CASE WHEN COALESCE(settings, '') <> COALESCE(CAST(?5 AS TEXT), '') THEN ?6 \
                                           WHEN dirty_to < ?4 THEN ?4 ELSE dirty_to END, \
                           settings = ?5 \
                       WHERE account_id = ?1 AND device_id = ?2 AND marks = ?3 AND dirty_from IS NOT NULL \
                       RETURNING quiet";
            let next = settled.plus_millis(1);
            tx.query_opt(sql, params![account, one.device, one.marks, next, used, settings::WHOLE.to]).await?
        }
    };
    Ok(row.map(|row| row.bool("quiet")).transpose()?)
}

async fn replace_anchors(
    tx: &Tx,
    account: AccountId,
    one: &DerivedTimeline,
    anchors: Serialised,
) -> Result<()> {
    let after = one.anchors_after.map_or(i64::MIN, Timestamp::as_millis);
    let before = match one.end {
        WalkEnd::Joined(_, at) => at.as_millis(),
        // Anchors after a part stay until the next part is derived, which finds them again or replaces them.
        WalkEnd::Part(_, _) => one.anchors.last().map_or(i64::MIN, |last| last.at.as_millis() + 1),
        WalkEnd::Newest => i64::MAX,
    };
    let sql = "DELETE FROM timeline_anchor WHERE account_id = ?1 AND device_id = ?2 AND at > ?3 AND at < ?4";
    tx.execute(sql, params![account, one.device, after, before]).await?;
    let row = |(at, settled, state): (Timestamp, Timestamp, String)| {
        params![account, one.device, at, settled, state].to_vec()
    };
    let rows: Vec<_> = anchors.into_iter().map(row).collect();
    let head = "INSERT INTO timeline_anchor (account_id, device_id, at, settled, state)";
    let tail = "ON CONFLICT (account_id, device_id, at) DO UPDATE SET settled = excluded.settled, state = excluded.state";
    insert_many(tx, head, &rows, tail).await?;
    Ok(())
}

/// Compares the derived segments with the stored ones of the same part and collects the differences.
async fn replace(
    tx: &Tx,
    account: AccountId,
    one: DerivedTimeline,
    is_quiet: bool,
    changes: &mut Changes,
) -> Result<()> {
    let end = match one.end {
        WalkEnd::Newest => i64::MAX,
        WalkEnd::Joined(end, _) | WalkEnd::Part(end, _) => end.as_millis(),
    };
    let from = one.from.map_or(i64::MIN, Timestamp::as_millis);
    let sql = format!(
        "SELECT {COLUMNS} FROM timeline_segment \
         WHERE account_id = ?1 AND device_id = ?2 AND from_at >= ?3 AND from_at < ?4 ORDER BY from_at"
    );
    let rows = tx.query(&sql, params![account, one.device, from, end]).await?;
    let old = rows.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    let has_open_end = one.end == WalkEnd::Newest;
    let count = one.segments.len();
    let (matches, removed) = reconcile(old, one.segments);
    let missing = matches.iter().filter(|found| found.old.is_none()).count();
    let mut fresh = match missing {
        0 => 0..,
        count => ids::fresh_ids(tx, "timeline_segment", account, count).await?..,
    };
    let (mut olds, mut news) = (Vec::with_capacity(count), Vec::with_capacity(count));
    for (at, found) in matches.into_iter().enumerate() {
        let is_open = has_open_end && at + 1 == count;
        let id = found.old.as_ref().map(|old| old.id).or_else(|| fresh.next().map(SegmentId::from_i64));
        let Some(id) = id else { continue };
        news.push(StoredSegment {
            account,
            device: one.device,
            id,
            segment: found.segment,
            is_open,
            labels: found.labels,
            driver: found.old.as_ref().and_then(|old| old.driver.clone()),
            revision: found.old.as_ref().map_or(Revision::FIRST, |old| old.revision),
            updated_at: tx.now(),
            change: 0,
        });
        olds.push(found.old);
    }
    drivers::resolve(tx, account, one.device, &mut news).await?;
    for (old, new) in olds.iter().zip(news) {
        changes.put(old.as_ref(), new, is_quiet);
    }
    for old in removed {
        changes.remove(&old, is_quiet);
    }
    Ok(())
}
