//! How much devices were used since the cycles of their plans began: sums over the segments of timelines, the same that
//! totals and reports add up.
//!
//! A plan keeps the sums up to an instant (`summed_to`) at least half a day before the end of the timeline, so that few
//! segments are read each time. When segments before that instant change, the sums begin anew from the beginning of the
//! cycle, or from the instant up to which segments were deleted because their retention ended (`kept_to`).

use std::collections::{BTreeMap, HashMap};

use perigee_core::id::{AccountId, DeviceId, MaintenancePlanId};
use perigee_core::maintenance::Usage;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use perigee_core::timeline::{SegmentFigures, Totals};

use super::row::{COLUMNS, PlanRow, Sums, number};
use crate::sql::query::for_ids;
use crate::sql::timeline::totals::{FIGURES, read, sum_device};
use crate::{Tx, params};

/// Plans whose segments one statement reads.
const PLANS: usize = 100;
/// Segments that one statement reads. What is left is added up by the background job, slice by slice.
const SEGMENTS: i64 = 20_000;
/// The end of a timeline that may still change often, in milliseconds: it is added up each time.
const RECENT_MS: i64 = 12 * 60 * 60 * 1_000;
/// Milliseconds after which a plan is examined once its timeline changed. Further changes in this time are examined with it.
const AFTER_CHANGE_MS: i64 = 30_000;

/// What was added up for a plan.
#[derive(Clone, Copy, Debug)]
pub(super) struct Added {
    /// The usage up to the end of the timeline.
    pub(super) usage: Usage,
    /// The sums up to an instant after which the timeline may still change often.
    pub(super) summed: Sums,
}

/// Adds up the segments after the kept sums of each of these plans. Plans for which too many segments were read come last
/// with a partial usage, or are missing.
pub(super) async fn add_up(
    tx: &Tx,
    account: AccountId,
    plans: &[PlanRow],
) -> Result<HashMap<MaintenancePlanId, Added>> {
    let mut plans: Vec<&PlanRow> = plans.iter().collect();
    plans.sort_unstable_by_key(|row| row.plan.id);
    let mut all = HashMap::new();
    for part in plans.chunks(PLANS) {
        let (rows, is_cut) = segments(tx, account, part).await?;
        let last = rows.last_key_value().map(|(id, _)| *id);
        for row in part {
            let id = row.plan.id;
            if is_cut && last.is_some_and(|last| id > last) {
                break;
            }
            let segments = rows.get(&id).map(Vec::as_slice).unwrap_or_default();
            all.insert(id, added(row.summed, segments, is_cut && last == Some(id)));
        }
    }
    Ok(all)
}

type SegmentsOfPlans = BTreeMap<MaintenancePlanId, Vec<SegmentFigures>>;

/// The segments after the kept sums of each plan, in order, and whether some are missing at the end.
async fn segments(tx: &Tx, account: AccountId, plans: &[&PlanRow]) -> Result<(SegmentsOfPlans, bool)> {
    let ids: Vec<i64> = plans.iter().map(|row| row.plan.id.as_i64()).collect();
    // The segment that the kept sums end in is found by its beginning, which the index has.
    let sql = format!(
        "SELECT p.id AS plan_id, {FIGURES} FROM maintenance_plan p \
         JOIN timeline_segment s ON s.account_id = p.account_id AND s.device_id = p.device_id \
             AND s.from_at >= COALESCE((SELECT MAX(b.from_at) FROM timeline_segment b \
                 WHERE b.account_id = p.account_id AND b.device_id = p.device_id AND b.from_at <= p.summed_to), \
                 p.summed_to) \
         WHERE p.account_id = ?1 AND p.id IN ({{ids}}) ORDER BY p.id, s.from_at LIMIT ?2"
    );
    let rows = for_ids(tx, &sql, params![account, SEGMENTS], &ids).await?;
    let mut found = SegmentsOfPlans::new();
    for row in &rows {
        let id = MaintenancePlanId::from_i64(row.i64("plan_id")?);
        found.entry(id).or_default().push(read(row)?);
    }
    Ok((found, i64::try_from(rows.len()).is_ok_and(|count| count >= SEGMENTS)))
}

/// Adds segments to sums. If some are missing, the last one is left to the next time.
fn added(from: Sums, segments: &[SegmentFigures], is_cut: bool) -> Added {
    let recent = segments.last().map_or(from.to, |last| last.to.plus_millis(-RECENT_MS));
    let (mut summed, mut whole) = (from, from);
    for segment in segments {
        let mut totals = Totals::default();
        totals.add(segment, from.to, Timestamp::MAX);
        whole.distance_m = whole.distance_m.saturating_add(totals.distance_m);
        whole.engine_s = whole.engine_s.saturating_add(totals.engine_s.unwrap_or(0));
        whole.to = whole.to.max(segment.to);
        if segment.to <= recent && !segment.is_open {
            summed = whole;
        }
    }
    Added { usage: whole.usage(is_cut), summed }
}

/// Writes how far the segments of a plan are added up.
pub(super) async fn save(tx: &Tx, row: &PlanRow, summed: Sums) -> Result<()> {
    if summed == row.summed {
        return Ok(());
    }
    let sql = "UPDATE maintenance_plan SET summed_to = ?3, summed_m = ?4, summed_engine_s = ?5 \
               WHERE account_id = ?1 AND id = ?2";
    let (distance_m, engine_s) = (number(summed.distance_m), number(summed.engine_s));
    tx.execute(sql, params![row.plan.account, row.plan.id, summed.to, distance_m, engine_s]).await?;
    Ok(())
}

/// The sums of a plan up to an instant in its cycle.
pub(super) async fn up_to(tx: &Tx, row: &PlanRow, to: Timestamp) -> Result<Sums> {
    let from = if row.summed.to <= to { row.summed } else { row.kept };
    if to <= from.to {
        return Ok(Sums { to, ..from });
    }
    let totals = sum_device(tx, (row.plan.account, row.plan.device), &[from.to, to]).await?;
    let totals = totals.into_iter().next().unwrap_or_default();
    Ok(Sums {
        to,
        distance_m: from.distance_m.saturating_add(totals.distance_m),
        engine_s: from.engine_s.saturating_add(totals.engine_s.unwrap_or(0)),
    })
}

/// The plans of these devices.
async fn of_devices(tx: &Tx, account: AccountId, devices: &[i64]) -> Result<Vec<PlanRow>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM maintenance_plan p WHERE p.account_id = ?1 AND p.device_id IN ({{ids}})"
    );
    for_ids(tx, &sql, params![account], devices).await?.iter().map(PlanRow::read).collect()
}

/// Has the plans of devices examined whose timelines changed, each from this instant on. The account is locked.
pub(in crate::sql) async fn timelines_changed(
    tx: &Tx,
    account: AccountId,
    changed: &BTreeMap<DeviceId, Timestamp>,
) -> Result<()> {
    let devices: Vec<i64> = changed.keys().map(|device| device.as_i64()).collect();
    if devices.is_empty() {
        return Ok(());
    }
    let at = tx.now().plus_millis(AFTER_CHANGE_MS);
    for row in of_devices(tx, account, &devices).await? {
        let from = changed.get(&row.plan.device).copied().unwrap_or(Timestamp::MIN);
        if from < row.summed.to {
            save(tx, &row, row.kept).await?;
        }
        let sql = "UPDATE maintenance_plan SET evaluate_at = ?3 WHERE account_id = ?1 AND id = ?2 \
                   AND (evaluate_at IS NULL OR evaluate_at > ?3)";
        tx.execute(sql, params![account, row.plan.id, at]).await?;
    }
    Ok(())
}

/// Keeps the sums of segments up to an instant, which are deleted because their retention ended. The account is locked.
pub(in crate::sql) async fn retired(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    to: Timestamp,
) -> Result<()> {
    for row in of_devices(tx, account, &[device.as_i64()]).await? {
        if row.kept.to >= to {
            continue;
        }
        let totals = sum_device(tx, (account, device), &[row.kept.to, to]).await?;
        let totals = totals.into_iter().next().unwrap_or_default();
        let kept = Sums {
            to,
            distance_m: row.kept.distance_m.saturating_add(totals.distance_m),
            engine_s: row.kept.engine_s.saturating_add(totals.engine_s.unwrap_or(0)),
        };
        let sql = "UPDATE maintenance_plan SET kept_to = ?3, kept_m = ?4, kept_engine_s = ?5 \
                   WHERE account_id = ?1 AND id = ?2";
        let (distance_m, engine_s) = (number(kept.distance_m), number(kept.engine_s));
        tx.execute(sql, params![account, row.plan.id, kept.to, distance_m, engine_s]).await?;
        if row.summed.to < kept.to {
            save(tx, &row, kept).await?;
        }
    }
    Ok(())
}
