//! Examining plans whose timeline changed or whose date came: raises each alert of a cycle once, with the state that
//! prevents another one, in one transaction.

use std::collections::BTreeMap;

use perigee_core::alerts::alert::Alert;
use perigee_core::error::StoreError;
use perigee_core::events::event::EventKind;
use perigee_core::id::{AccountId, AlertId, DeviceId};
use perigee_core::locations::location::Attribute;
use perigee_core::maintenance::{DueState, MaintenancePlan};
use perigee_core::store::{PlansEvaluated, Result};
use perigee_core::time::Timestamp;

use super::change::event;
use super::row::{COLUMNS, PlanRow};
use super::usage;
use crate::sql::accounts;
use crate::sql::alerts::{self, NewAlert};
use crate::sql::events::event_append::append_events;
use crate::{Tx, params};

/// Milliseconds after which the plan of an expired device is looked at again.
const EXPIRED_MS: i64 = 24 * 60 * 60 * 1_000;

/// Accounts with plans that have to be examined now, those that have waited longest first.
pub(super) async fn accounts(tx: &Tx, limit: u32) -> Result<Vec<AccountId>> {
    let sql = "SELECT account_id AS id, MIN(evaluate_at) AS first FROM maintenance_plan WHERE evaluate_at <= ?1 \
               GROUP BY account_id ORDER BY first LIMIT ?2";
    let rows = tx.query(sql, params![tx.now(), limit]).await?;
    rows.iter().map(|row| Ok(AccountId::from_i64(row.i64("id")?))).collect()
}

pub(super) async fn evaluate(tx: &Tx, account: AccountId, limit: u32) -> Result<PlansEvaluated> {
    let account = match accounts::lock(tx, account).await {
        Err(StoreError::NotFound(_)) => return Ok(PlansEvaluated::default()),
        account => account?,
    };
    let now = tx.now();
    let sql = format!(
        "SELECT {COLUMNS}, d.expires AS device_expires FROM maintenance_plan p \
         JOIN device d ON d.account_id = p.account_id AND d.id = p.device_id \
         WHERE p.account_id = ?1 AND p.evaluate_at <= ?2 ORDER BY p.evaluate_at, p.id LIMIT ?3"
    );
    let rows = tx.query(&sql, params![account.id, now, limit]).await?;
    let more = i64::try_from(rows.len()).is_ok_and(|count| count >= i64::from(limit));
    let mut plans = Vec::with_capacity(rows.len());
    for row in &rows {
        let plan = PlanRow::read(row)?;
        if row.opt_timestamp("device_expires")?.is_some_and(|expires| expires <= now) {
            wait(tx, &plan.plan, Some(now.plus_millis(EXPIRED_MS))).await?;
        } else {
            plans.push(plan);
        }
    }
    let added = usage::add_up(tx, account.id, &plans).await?;
    let mut reached = Vec::new();
    let mut is_partial = false;
    for row in &plans {
        let Some(added) = added.get(&row.plan.id) else {
            is_partial = true;
            continue;
        };
        usage::save(tx, row, added.summed).await?;
        if added.usage.is_partial {
            is_partial = true;
            continue;
        }
        let due = row.plan.due(added.usage, now, account.day_at(now));
        wait(tx, &row.plan, due.next_change).await?;
        if due.state > row.plan.announced {
            reached.push((row, due.state));
        }
    }
    let alerts = raise(tx, account.id, &reached).await?;
    Ok(PlansEvaluated { plans: rows.len(), alerts, more: more || is_partial })
}

/// Sets when a plan is examined next.
async fn wait(tx: &Tx, plan: &MaintenancePlan, until: Option<Timestamp>) -> Result<()> {
    let sql = "UPDATE maintenance_plan SET evaluate_at = ?3 WHERE account_id = ?1 AND id = ?2";
    tx.execute(sql, params![plan.account, plan.id, until]).await?;
    Ok(())
}

/// Raises the alerts of plans that reached a state, and records it. Returns how many alerts there were.
async fn raise(tx: &Tx, account: AccountId, reached: &[(&PlanRow, DueState)]) -> Result<usize> {
    let mut by_device: BTreeMap<DeviceId, Vec<(&PlanRow, DueState)>> = BTreeMap::new();
    for (row, state) in reached {
        by_device.entry(row.plan.device).or_default().push((*row, *state));
    }
    let of_device = |(device, plans): (&DeviceId, &Vec<(&PlanRow, DueState)>)| {
        let alerts = plans.iter().zip(0_i64..).filter_map(|((row, state), index)| {
            // Alerts of one time, name and text are one; two plans of a device may have the same name.
            alert(&row.plan, *state, tx.now().plus_millis(-index)).map(NewAlert::of_device)
        });
        (*device, alerts.collect())
    };
    let raised = alerts::raise_all(tx, account, by_device.iter().map(of_device).collect()).await?;
    let mut events: BTreeMap<DueState, Vec<_>> = BTreeMap::new();
    for ((_, submitted), (_, plans)) in raised.iter().zip(&by_device) {
        for ((_, id), (row, state)) in submitted.iter().zip(plans) {
            announce(tx, &row.plan, *state, *id).await?;
            events.entry(*state).or_default().push(event(&row.plan, *state));
        }
    }
    for (state, events) in events {
        let kind = match state {
            DueState::Due => EventKind::MaintenanceDue,
            DueState::Soon | DueState::Ok => EventKind::MaintenanceSoon,
        };
        append_events(tx, account, kind, events).await?;
    }
    Ok(reached.len())
}

/// Records that the alert of a state was raised in the present cycle.
async fn announce(tx: &Tx, plan: &MaintenancePlan, state: DueState, alert: AlertId) -> Result<()> {
    let column = if state == DueState::Due { "due_alert_id" } else { "soon_alert_id" };
    let sql = format!(
        "UPDATE maintenance_plan SET announced = ?3, {column} = ?4 WHERE account_id = ?1 AND id = ?2"
    );
    tx.execute(&sql, params![plan.account, plan.id, state.name(), alert]).await?;
    Ok(())
}

fn alert(plan: &MaintenancePlan, state: DueState, time: Timestamp) -> Option<Alert> {
    Some(Alert {
        time,
        name: state.alert_name()?.to_owned(),
        text: Some(plan.settings.name.clone()),
        position: None,
        critical: false,
        attributes: BTreeMap::from([("maintenance".to_owned(), Attribute::Text(plan.id.to_string()))]),
    })
}
