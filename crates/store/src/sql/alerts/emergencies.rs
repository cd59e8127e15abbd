//! Emergencies: each step is stored once, and assigned to the alert of its emergency.

use perigee_core::alerts::alert::{Alert, LaterFix};
use perigee_core::alerts::emergency::{Emergency, Step, StepKind, emergencies};
use perigee_core::id::{AccountId, AlertId, DeviceId};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::alerts::{self, NewAlert};
use crate::sql::column;
use crate::sql::rules::rule_engine::end_alerts;
use crate::{Row, Tx, params};

/// Steps up to this far from a new one, in milliseconds, may belong to the same emergency: three days, which is longer
/// than the time between two steps of one emergency.
const NEAR_MS: i64 = 3 * 24 * 60 * 60 * 1000;
/// Steps that are compared with a new one; an emergency with a message every minute has fewer in a day.
const NEAR_MAX: i64 = 2_000;
/// How long steps are kept, in milliseconds: a month, longer than any network repeats a message.
const KEPT_MS: i64 = 31 * 24 * 60 * 60 * 1000;

/// Assigns a step to an emergency of a device that exists, whose account is locked: raises its alert if the emergency
/// has none yet, and ends the alert if the step is a cancellation. Steps may arrive repeatedly and in any order;
/// returns whether this one is new.
pub(in crate::sql) async fn follow(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    kind: StepKind,
    new: &NewAlert,
) -> Result<bool> {
    let time = new.alert.time;
    let sql = "INSERT INTO emergency_step (account_id, device_id, time, kind) VALUES (?1, ?2, ?3, ?4) \
               ON CONFLICT DO NOTHING";
    if tx.execute(sql, params![account, device, time, kind.name()]).await? == 0 {
        return Ok(false);
    }
    let sql = "DELETE FROM emergency_step WHERE account_id = ?1 AND device_id = ?2 AND time < ?3";
    tx.execute(sql, params![account, device, tx.now().min(time).plus_millis(-KEPT_MS)]).await?;
    for emergency in emergencies(near(tx, account, device, time).await?) {
        settle(tx, (account, device), &emergency, new).await?;
    }
    Ok(true)
}

/// The steps of a device around an instant.
async fn near(tx: &Tx, account: AccountId, device: DeviceId, time: Timestamp) -> Result<Vec<Step>> {
    let sql = "SELECT e.time, e.kind, a.id AS alert_id, a.ended_at FROM emergency_step e \
               LEFT JOIN alert a ON a.account_id = e.account_id AND a.id = e.alert_id \
               WHERE e.account_id = ?1 AND e.device_id = ?2 AND e.time BETWEEN ?3 AND ?4 \
               ORDER BY e.time DESC LIMIT ?5";
    let (from, to) = (time.plus_millis(-NEAR_MS), time.plus_millis(NEAR_MS));
    let rows = tx.query(sql, params![account, device, from, to, NEAR_MAX]).await?;
    rows.iter().map(step).collect()
}

fn step(row: &Row) -> Result<Step> {
    let name = row.str("kind")?;
    let kind = StepKind::ALL.into_iter().find(|kind| kind.name() == name);
    let alert = row.opt_i64("alert_id")?.map(AlertId::from_i64);
    Ok(Step {
        time: row.timestamp("time")?,
        kind: kind.ok_or_else(|| column::unreadable("kind", "not a step of an emergency"))?,
        alert: alert
            .map(|alert| Ok::<_, perigee_core::error::StoreError>((alert, row.opt_timestamp("ended_at")?)))
            .transpose()?,
    })
}

/// Raises the alert of an emergency if it has none, otherwise adds the position of the new step to the alert. Assigns
/// the steps to the alert, and ends the alert if the emergency was cancelled.
async fn settle(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    emergency: &Emergency,
    new: &NewAlert,
) -> Result<()> {
    let alert = match emergency.alert {
        Some(alert) => {
            let is_of_this = emergency.steps.iter().any(|step| step.time == new.alert.time);
            if let Some(position) = new.alert.position.filter(|_| is_of_this) {
                let fix = LaterFix { time: new.alert.time, position };
                alerts::add_later_fix(tx, (account, device), alert, fix).await?;
            }
            Some(alert)
        }
        None => raise(tx, (account, device), emergency, new).await?,
    };
    let Some(alert) = alert else { return Ok(()) };
    let others = emergency.steps.iter().filter(|step| step.alert.map(|(known, _)| known) != Some(alert));
    for step in others {
        let sql = "UPDATE emergency_step SET alert_id = ?5 \
                   WHERE account_id = ?1 AND device_id = ?2 AND time = ?3 AND kind = ?4";
        tx.execute(sql, params![account, device, step.time, step.kind.name(), alert]).await?;
    }
    match emergency.end {
        Some(end) => end_alerts(tx, account, (None, Some(end)), &[(device, alert)]).await,
        None => Ok(()),
    }
}

/// Raises the alert of an emergency. A cancellation that arrives late may divide an emergency into two; the alert of
/// the second then has the time of its own first step, and no position, because steps are stored without one.
async fn raise(
    tx: &Tx,
    (account, device): (AccountId, DeviceId),
    emergency: &Emergency,
    new: &NewAlert,
) -> Result<Option<AlertId>> {
    let is_new = |step: &Step| step.time == new.alert.time && step.kind != StepKind::Cancel;
    let begin = emergency.steps.first().map_or(new.alert.time, |step| step.time);
    let alert = if emergency.steps.iter().any(is_new) {
        new.clone()
    } else {
        NewAlert { alert: Alert { time: begin, position: None, ..new.alert.clone() }, ..new.clone() }
    };
    let raised = alerts::raise_all(tx, account, vec![(device, vec![alert])]).await?;
    Ok(raised.first().and_then(|(_, raised)| raised.first()).map(|(_, alert)| *alert))
}
