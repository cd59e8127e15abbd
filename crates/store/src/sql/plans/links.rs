//! Travellers' links: created, listed, revoked, opened and used.

use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, PlanId, PlanLinkId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::plans::{CheckInBy, NewPlanLink, OpenPlan, PlanAction, PlanLink};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::act::perform;
use super::change::MISSING;
use super::read::{find, find_row};
use crate::sql::{access::audit, accounts, idempotency, ids};
use crate::{Row, Tx, params};

const COLUMNS: &str = "id, plan_id, name, secret, ends, last_used, creation";

fn from_row(row: &Row) -> Result<PlanLink> {
    Ok(PlanLink {
        id: PlanLinkId::from_i64(row.i64("id")?),
        plan: PlanId::from_i64(row.i64("plan_id")?),
        link: NewPlanLink {
            name: row.opt_text("name")?,
            until: row.opt_timestamp("ends")?,
            secret: row.text("secret")?,
        },
        last_used: row.opt_timestamp("last_used")?,
        creation: row.timestamp("creation")?,
    })
}

pub(super) async fn create(
    tx: &Tx,
    actor: Actor,
    id: PlanId,
    new: NewPlanLink,
    once: Option<IdempotencyKey>,
) -> Result<Created<PlanLink>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    find_row(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let count = "SELECT COUNT(*) AS count FROM float_plan_link WHERE account_id = ?1 AND plan_id = ?2";
    let most = PlanLink::PER_PLAN_MAX;
    if tx.query_one(count, params![account, id]).await?.i64("count")? >= i64::from(most) {
        return Err(StoreError::TooMany { kind: Kind::PlanLink, most });
    }
    let link = ids::fresh_id(tx, "float_plan_link", account).await?;
    let sql = format!(
        "INSERT INTO float_plan_link (account_id, id, plan_id, name, secret, ends, creation) \
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7) RETURNING {COLUMNS}"
    );
    let NewPlanLink { name, until, secret } = new;
    let row = tx.query_one(&sql, params![account, link, id, name, &secret, until, tx.now()]).await?;
    let link = from_row(&row)?;
    let sql = "INSERT INTO share_directory (secret, account_id, ends) VALUES (?1, ?2, ?3)";
    tx.execute(sql, params![&secret, account, until.unwrap_or(Timestamp::MAX)]).await?;
    audit::record(tx, account, &actor.origin, "plan.link.create", Some(link.id.to_string())).await?;
    idempotency::keep(tx, account, once.as_ref(), &link).await?;
    Ok(Created::Now(link))
}

pub(super) async fn list(tx: &Tx, scope: Scope, id: PlanId) -> Result<Vec<PlanLink>> {
    find_row(tx, scope, id).await?.ok_or(MISSING)?;
    let sql =
        format!("SELECT {COLUMNS} FROM float_plan_link WHERE account_id = ?1 AND plan_id = ?2 ORDER BY id");
    tx.query(&sql, params![scope.account, id]).await?.iter().map(from_row).collect()
}

pub(super) async fn delete(tx: &Tx, actor: Actor, id: PlanId, link: PlanLinkId) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    find_row(tx, actor.scope, id).await?.ok_or(MISSING)?;
    let sql =
        "DELETE FROM float_plan_link WHERE account_id = ?1 AND plan_id = ?2 AND id = ?3 RETURNING secret";
    let row =
        tx.query_opt(sql, params![account, id, link]).await?.ok_or(StoreError::NotFound(Kind::PlanLink))?;
    tx.execute("DELETE FROM share_directory WHERE secret = ?1", params![row.text("secret")?]).await?;
    audit::record(tx, account, &actor.origin, "plan.link.delete", Some(link.to_string())).await
}

/// The link with this secret, and its account; `None` if there is none, or if it has expired.
async fn find_open(tx: &Tx, secret: &str) -> Result<Option<(AccountId, PlanLink)>> {
    if secret.contains('\0') {
        return Ok(None);
    }
    let sql = "SELECT account_id FROM share_directory WHERE secret = ?1";
    let Some(row) = tx.query_opt(sql, params![secret]).await? else { return Ok(None) };
    let account = AccountId::from_i64(row.i64("account_id")?);
    let sql = format!(
        "SELECT {COLUMNS} FROM float_plan_link WHERE account_id = ?1 AND secret = ?2 AND (ends IS NULL OR ends > ?3)"
    );
    let row = tx.query_opt(&sql, params![account, secret, tx.now()]).await?;
    row.map(|row| Ok((account, from_row(&row)?))).transpose()
}

pub(super) async fn open(tx: &Tx, secret: String) -> Result<Option<OpenPlan>> {
    let Some((account, link)) = find_open(tx, &secret).await? else { return Ok(None) };
    let Some(account) = accounts::find(tx, account).await? else { return Ok(None) };
    let plan = find(tx, Scope::for_store_check(account.id), link.plan).await?;
    let (zone, account) = (account.settings.time_zone, account.settings.name);
    Ok(plan.map(|plan| OpenPlan { plan, link, account, zone }))
}

pub(super) async fn act(
    tx: &Tx,
    origin: Origin,
    secret: String,
    action: PlanAction,
) -> Result<Option<OpenPlan>> {
    let Some((account, mut link)) = find_open(tx, &secret).await? else { return Ok(None) };
    let account = accounts::lock(tx, account).await?;
    let Some(mut row) = find_row(tx, Scope::for_store_check(account.id), link.plan).await? else {
        return Ok(None);
    };
    // It may have been revoked while this transaction waited for the lock.
    let sql = "UPDATE float_plan_link SET last_used = ?3 WHERE account_id = ?1 AND id = ?2";
    if tx.execute(sql, params![account.id, link.id, tx.now()]).await? == 0 {
        return Ok(None);
    }
    link.last_used = Some(tx.now());
    perform(tx, &account, &mut row, action, (CheckInBy::Link, link.link.name.clone(), None)).await?;
    audit::record(tx, account.id, &origin, "plan.link.use", Some(link.id.to_string())).await?;
    let (zone, account) = (account.settings.time_zone, account.settings.name);
    Ok(Some(OpenPlan { plan: row.plan, link, account, zone }))
}
