//! Escalations: written with their critical alert, and taken step by step until somebody acknowledges it.
//!
//! A step is taken in one transaction under the account's lock, which writes its messages and the time of the next
//! step. So it is taken once, even if two nodes try or a node restarts meanwhile.

use perigee_core::alerts::severity::Severity;
use perigee_core::id::{AccountId, AlertId, DeviceId};
use perigee_core::notifications::escalation::Escalation;
use perigee_core::notifications::notification::{Audience, Source};
use perigee_core::notifications::routing::AlertRouting;
use perigee_core::store::{DueStep, Escalations, Result};
use perigee_core::time::Timestamp;

use super::fill::{Raised, drafts_of_step, write};
use crate::forward::forward;
use crate::sql::query::insert_many;
use crate::sql::{accounts, alerts, column, notifications::contact_groups};
use crate::{Tx, Value, params};

/// The latest due time that a right clock can have written. A step with a later one is due now.
fn latest_due(now: Timestamp) -> Timestamp {
    now.plus_seconds(2 * 60 * i64::from(Escalation::MINUTES_MAX))
}

/// Starts the escalations of a critical alert.
pub(super) async fn start(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    alert: &Raised,
    escalations: &[Escalation],
) -> Result<()> {
    let mut rows: Vec<Vec<Value>> = Vec::new();
    for (escalation, plan) in escalations.iter().zip(0_i64..) {
        let Some(due) = escalation.due(0, tx.now()) else { continue };
        let document = super::owners::text(escalation)?;
        rows.push(params![account, alert.id, plan, device, document, tx.now(), 0_i64, due].to_vec());
    }
    let head = "INSERT INTO escalation (account_id, alert_id, plan, device_id, document, started, turn, due)";
    insert_many(tx, head, &rows, "").await?;
    Ok(())
}

/// Ends the escalations of an alert.
pub(in crate::sql) async fn stop(tx: &Tx, account: AccountId, alert: AlertId) -> Result<()> {
    tx.execute("DELETE FROM escalation WHERE account_id = ?1 AND alert_id = ?2", params![account, alert])
        .await?;
    Ok(())
}

async fn due(tx: &Tx, limit: u32) -> Result<Vec<DueStep>> {
    // Two queries, because together they are not one index range.
    let columns = "SELECT account_id, alert_id, plan FROM escalation WHERE due";
    let mut steps = Vec::new();
    for (compares, bound) in [("<=", tx.now()), (">", latest_due(tx.now()))] {
        let sql = format!("{columns} {compares} ?1 ORDER BY due LIMIT ?2");
        for row in tx.query(&sql, params![bound, limit]).await? {
            steps.push(DueStep {
                account: AccountId::from_i64(row.i64("account_id")?),
                alert: AlertId::from_i64(row.i64("alert_id")?),
                plan: row.i64("plan")?,
            });
        }
    }
    Ok(steps)
}

async fn take(tx: &Tx, step: DueStep) -> Result<bool> {
    let DueStep { account, alert, plan } = step;
    let account = accounts::lock(tx, account).await?;
    let sql = "SELECT device_id, document, started, turn FROM escalation \
               WHERE account_id = ?1 AND alert_id = ?2 AND plan = ?3 AND (due <= ?4 OR due > ?5)";
    let values = params![account.id, alert, plan, tx.now(), latest_due(tx.now())];
    let Some(row) = tx.query_opt(sql, values).await? else { return Ok(false) };
    let stored = alerts::of_ids(tx, account.id, &[alert.as_i64()]).await?.remove(&alert);
    let Some(stored) = stored.filter(|stored| stored.acknowledged.is_none()) else {
        stop(tx, account.id, alert).await?;
        return Ok(false);
    };
    let escalation: Escalation = column::json(&row, "document")?;
    let (device, turn) = (DeviceId::from_i64(row.i64("device_id")?), row.int::<u32>("turn")?);
    // Read now, so that people who left since are not notified.
    let named = AlertRouting { escalation: Some(escalation.clone()), ..AlertRouting::default() };
    let directory = contact_groups::directory(tx, account.id, std::iter::once(&named)).await?;
    let mut audience = Audience::default();
    for step in escalation.steps_in(turn) {
        audience.add_step(Source::Account, step, &directory);
    }
    let raised = Raised { id: alert, name: stored.alert.name, severity: Severity::Critical, is_alone: false };
    let drafts = drafts_of_step(tx, &account, &audience, &raised, turn + 1)?;
    write(tx, account.id, Some(device), drafts).await?;
    if let Some(due) = escalation.due(turn + 1, row.timestamp("started")?) {
        // Steps that were missed while no node ran follow one another, not all at once.
        let due = due.max(tx.now().plus_seconds(60)).min(latest_due(tx.now()));
        let sql = "UPDATE escalation SET turn = turn + 1, due = ?4 \
                   WHERE account_id = ?1 AND alert_id = ?2 AND plan = ?3";
        tx.execute(sql, params![account.id, alert, plan, due]).await?;
    } else {
        let sql = "DELETE FROM escalation WHERE account_id = ?1 AND alert_id = ?2 AND plan = ?3";
        tx.execute(sql, params![account.id, alert, plan]).await?;
    }
    Ok(true)
}

forward! {
    impl Escalations for Database {
        read due_steps(&self, limit: u32) -> Vec<DueStep> = due;
        write take_step(&self, step: DueStep) -> bool = take;
        read next_step_due(&self) -> Option<Timestamp> = next_due;
    }
}

async fn next_due(tx: &Tx) -> Result<Option<Timestamp>> {
    Ok(tx.query_one("SELECT MIN(due) AS due FROM escalation", &[]).await?.opt_timestamp("due")?)
}
