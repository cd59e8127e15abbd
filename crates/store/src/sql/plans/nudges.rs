//! Messages to devices that ask a traveller to check in. The transaction that finds a check-in missed only notes them; a
//! worker chooses the link of the device and queues the message, in one transaction with the removal of the note.

use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::devices::conversation::NewOutgoing;
use perigee_core::id::{AccountId, DeviceId, PlanId};
use perigee_core::plans::{Plan, PlanNudge};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::read::find;
use crate::sql::accounts;
use crate::sql::conversations;
use crate::{Tx, params};

/// Notes a message to each device of a plan.
pub(super) async fn queue(tx: &Tx, plan: &Plan, deadline: Timestamp) -> Result<()> {
    for device in &plan.settings.devices {
        let sql = "INSERT INTO float_plan_nudge (account_id, plan_id, device_id, deadline, created) \
                   VALUES (?1, ?2, ?3, ?4, ?5) \
                   ON CONFLICT (account_id, plan_id, device_id) DO UPDATE SET deadline = excluded.deadline, \
                       created = excluded.created";
        tx.execute(sql, params![plan.account, plan.id, *device, deadline, tx.now()]).await?;
    }
    Ok(())
}

/// Forgets what was not sent yet: the check-in came.
pub(super) async fn forget(tx: &Tx, plan: &Plan) -> Result<()> {
    let sql = "DELETE FROM float_plan_nudge WHERE account_id = ?1 AND plan_id = ?2";
    tx.execute(sql, params![plan.account, plan.id]).await?;
    Ok(())
}

pub(super) async fn list(tx: &Tx, limit: u32) -> Result<Vec<PlanNudge>> {
    let sql = "SELECT account_id, plan_id, device_id, deadline FROM float_plan_nudge ORDER BY created, account_id LIMIT ?1";
    let mut nudges = Vec::new();
    for row in tx.query(sql, params![limit]).await? {
        let account = AccountId::from_i64(row.i64("account_id")?);
        let id = PlanId::from_i64(row.i64("plan_id")?);
        let Some(found) = accounts::find(tx, account).await? else { continue };
        let Some(plan) = find(tx, Scope::for_store_check(account), id).await? else { continue };
        let zone = plan.zone(&found.settings.time_zone).clone();
        let device = DeviceId::from_i64(row.i64("device_id")?);
        nudges.push(PlanNudge { account, plan, device, zone, deadline: row.timestamp("deadline")? });
    }
    Ok(nudges)
}

pub(super) async fn send(tx: &Tx, nudge: PlanNudge, message: Option<NewOutgoing>) -> Result<bool> {
    accounts::lock(tx, nudge.account).await?;
    let sql = "DELETE FROM float_plan_nudge WHERE account_id = ?1 AND plan_id = ?2 AND device_id = ?3 AND deadline = ?4";
    let values = params![nudge.account, nudge.plan.id, nudge.device, nudge.deadline];
    if tx.execute(sql, values).await? == 0 {
        return Ok(false);
    }
    if let Some(message) = message {
        let actor = Actor::for_operator(nudge.account, Origin::service());
        conversations::send(tx, actor, nudge.device, vec![message], None).await?;
    }
    Ok(true)
}
