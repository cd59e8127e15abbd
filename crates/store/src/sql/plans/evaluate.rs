//! Examining plans whose devices sent something or whose time came. Check-ins are derived from committed texts and locations,
//! in the transaction that stores what follows from them: a crash before its commit leaves everything to the next worker, and
//! a worker that comes second finds the stored plan ahead.

use std::collections::BTreeMap;

use perigee_core::accounts::account::Account;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::plans::{CheckIn, CheckInBy, Order, Outcome, PlanAction, PlanState};
use perigee_core::store::{PlansEvaluated, Result};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;

use super::effects::Effects;
use super::evidence::{self, Evidence};
use super::row::{COLUMNS, PlanRow, save, with_devices};
use crate::sql::accounts;
use crate::sql::query::for_ids;
use crate::{Tx, params};

/// Steps of one examination; more follow in the next.
const STEPS: usize = 16;

/// Accounts with plans that have to be examined now, those that have waited longest first.
pub(super) async fn accounts(tx: &Tx, limit: u32) -> Result<Vec<AccountId>> {
    let sql = "SELECT account_id AS id, MIN(evaluate_at) AS first FROM float_plan WHERE evaluate_at <= ?1 \
               GROUP BY account_id ORDER BY first LIMIT ?2";
    let rows = tx.query(sql, params![tx.now(), limit]).await?;
    rows.iter().map(|row| Ok(AccountId::from_i64(row.i64("id")?))).collect()
}

pub(super) async fn evaluate(tx: &Tx, account: AccountId, limit: u32) -> Result<PlansEvaluated> {
    let account: Account = match accounts::lock(tx, account).await {
        Err(StoreError::NotFound(_)) => return Ok(PlansEvaluated::default()),
        account => account?,
    };
    let zone = &account.settings.time_zone;
    let sql = format!(
        "SELECT {COLUMNS} FROM float_plan p WHERE p.account_id = ?1 AND p.evaluate_at <= ?2 \
         ORDER BY p.evaluate_at, p.id LIMIT ?3"
    );
    let rows = tx.query(&sql, params![account.id, tx.now(), limit]).await?;
    let mut more = i64::try_from(rows.len()).is_ok_and(|count| count >= i64::from(limit));
    let mut effects = Effects::of(&account, None);
    let mut plans = with_devices(tx, account.id, &rows).await?;
    for row in &mut plans {
        more |= look(tx, row, zone, &mut effects).await?;
        if row.plan.settings.devices.is_empty() && row.plan.progress.state.is_running() {
            // Its devices were deleted: nothing can be heard, and there is nothing that an alert could be about.
            let none = CheckIn {
                at: tx.now(),
                by: CheckInBy::Button,
                device: None,
                position: None,
                text: None,
                waypoint: None,
            };
            let outcomes = row.plan.act(PlanAction::Cancel, none, tx.now(), zone).unwrap_or_default();
            effects.apply(tx, &mut row.plan, outcomes).await?;
        }
        learn_delay(tx, row, zone).await?;
        for _ in 0..STEPS {
            let Some(outcome) = row.plan.tick(tx.now(), zone) else { break };
            if matches!(outcome, Outcome::Started(_)) {
                row.last_text = evidence::newest_text(tx, account.id, &row.plan.settings.devices).await?;
            }
            effects.apply(tx, &mut row.plan, vec![outcome]).await?;
        }
        save(tx, row, zone).await?;
    }
    Ok(PlansEvaluated { plans: plans.len(), alerts: effects.alerts, more })
}

/// Learns how long messages take before a check-in counts as missed.
async fn learn_delay(tx: &Tx, row: &mut PlanRow, zone: &Zone) -> Result<()> {
    let is_near =
        row.plan.next_deadline(zone).is_some_and(|deadline| row.plan.missed_from(deadline) <= tx.now());
    if row.plan.progress.state == PlanState::Active && is_near {
        row.plan.progress.usual_delay_s = evidence::usual_delay_s(tx, &row.plan).await?;
    }
    Ok(())
}

/// Reads what the devices of a running plan sent, in the order of their clocks. Returns whether there is more.
pub(super) async fn look(tx: &Tx, row: &mut PlanRow, zone: &Zone, effects: &mut Effects<'_>) -> Result<bool> {
    if !row.plan.progress.state.is_running() {
        return Ok(false);
    }
    let mut found = Vec::new();
    let more = evidence::texts(tx, row, &mut found).await?;
    evidence::locations(tx, &row.plan, &mut found).await?;
    found.sort_by_key(Evidence::at);
    let before = row.plan.settings.clone();
    for evidence in found {
        let outcomes = match evidence {
            Evidence::CheckIn(check_in) => row.plan.check_in(check_in, tx.now(), zone),
            Evidence::Arrival(check_in) => {
                let mut outcomes = row.plan.check_in(check_in.clone(), tx.now(), zone);
                outcomes.extend(row.plan.act(PlanAction::End, check_in, tx.now(), zone).unwrap_or_default());
                outcomes
            }
            Evidence::Order(order, check_in) => {
                let action = match order {
                    Order::CheckIn => PlanAction::CheckIn,
                    Order::End => PlanAction::End,
                    Order::Pause(length) => PlanAction::Pause(length),
                    Order::Resume => PlanAction::Resume,
                    Order::Extend(by) => PlanAction::Extend(by),
                };
                // What the state does not permit is a check-in at least: nobody could read a refusal.
                match row.plan.act(action, check_in.clone(), tx.now(), zone) {
                    Ok(outcomes) => outcomes,
                    Err(_refused) => row.plan.check_in(check_in, tx.now(), zone),
                }
            }
        };
        effects.apply(tx, &mut row.plan, outcomes).await?;
    }
    if row.plan.settings != before {
        row.plan.revision = row.plan.revision.next();
        row.plan.last_modified = tx.now();
    }
    Ok(more)
}

/// Has the running plans of a device examined, which sent something. The account is locked.
pub(in crate::sql) async fn device_heard(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    wake(tx, account, &[device.as_i64()]).await
}

/// Has the running plans of devices examined whose timelines changed. The account is locked.
pub(in crate::sql) async fn devices_heard(
    tx: &Tx,
    account: AccountId,
    changed: &BTreeMap<DeviceId, Timestamp>,
) -> Result<()> {
    let devices: Vec<i64> = changed.keys().map(|device| device.as_i64()).collect();
    wake(tx, account, &devices).await
}

async fn wake(tx: &Tx, account: AccountId, devices: &[i64]) -> Result<()> {
    if devices.is_empty() {
        return Ok(());
    }
    let sql = "UPDATE float_plan SET evaluate_at = ?2 WHERE account_id = ?1 AND state IN ('active', 'overdue', 'paused') \
               AND (evaluate_at IS NULL OR evaluate_at > ?2) \
               AND id IN (SELECT d.plan_id FROM float_plan_device d WHERE d.account_id = ?1 AND d.device_id IN ({ids}))";
    for_ids(tx, sql, params![account, tx.now()], devices).await?;
    Ok(())
}
