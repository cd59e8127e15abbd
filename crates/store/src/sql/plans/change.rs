//! Creating, changing and deleting plans.

use perigee_core::access::actor::Actor;
use perigee_core::access::audit::changed;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::id::PlanId;
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::plans::{Outcome, Plan, PlanEventKind, PlanSettings, Progress};
use perigee_core::revision::Revision;
use perigee_core::store::Result;

use super::bound;
use super::effects::{Effects, announce};
use super::evidence::newest_text;
use super::read::find_row;
use super::row::{PlanRow, save, settings_text, text, write_devices};
use crate::sql::{
    access::audit, accounts, idempotency, ids, locations::geofences, notifications::routing, scope,
};
use crate::{Tx, params};

pub(super) const MISSING: StoreError = StoreError::NotFound(Kind::Plan);

/// What the settings name must be visible.
async fn admit(tx: &Tx, actor: &Actor, before: Option<&PlanSettings>, settings: &PlanSettings) -> Result<()> {
    scope::require_devices(tx, actor.scope, &settings.devices).await?;
    for fence in &settings.check_ins.by.geofences {
        if before.is_some_and(|before| before.check_ins.by.geofences.contains(fence)) {
            continue;
        }
        let mut query = geofences::select("f.id", actor.scope);
        query.push_with(" AND f.id = {}", *fence);
        if query.row(tx).await?.is_none() {
            return Err(StoreError::UnknownReference { kind: Kind::Geofence, id: fence.to_string() });
        }
    }
    let before = before.and_then(|before| before.notify.as_ref());
    routing::require_named(tx, actor, before, settings.notify.as_ref()).await
}

pub(super) async fn create(
    tx: &Tx,
    actor: Actor,
    settings: PlanSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Plan>> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    if let Some(made) = idempotency::find(tx, account.id, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let count = "SELECT COUNT(*) AS count FROM float_plan WHERE account_id = ?1";
    let most = PlanSettings::PER_ACCOUNT_MAX;
    if tx.query_one(count, params![account.id]).await?.i64("count")? >= i64::from(most) {
        return Err(StoreError::TooMany { kind: Kind::Plan, most });
    }
    admit(tx, &actor, None, &settings).await?;
    let id = PlanId::from_i64(ids::fresh_id(tx, "float_plan", account.id).await?);
    let progress = Progress::default();
    let sql = "INSERT INTO float_plan (account_id, id, revision, settings, progress, state, is_template, last_text_id, \
                   creation, last_modified) VALUES (?1, ?2, 1, ?3, ?4, ?5, ?6, 0, ?7, ?7)";
    let (document, state) = (text(&progress)?, progress.state.name());
    let values =
        params![account.id, id, settings_text(&settings)?, document, state, settings.is_template, tx.now()];
    tx.execute(sql, values).await?;
    write_devices(tx, account.id, id, &settings.devices).await?;
    let row = find_row(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if bound::is_expected(&row.plan) {
        bound::require_few(tx, &row.plan).await?;
    }
    save(tx, &row, &account.settings.time_zone).await?;
    announce(tx, EventKind::PlanCreated, &row.plan).await?;
    audit::record(tx, account.id, &actor.origin, "plan.create", Some(id.to_string())).await?;
    idempotency::keep(tx, account.id, once.as_ref(), &row.plan).await?;
    Ok(Created::Now(row.plan))
}

pub(super) async fn replace(
    tx: &Tx,
    actor: Actor,
    id: PlanId,
    seen: Revision,
    settings: PlanSettings,
) -> Result<Plan> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    let zone = &account.settings.time_zone;
    let mut row = find_row(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if row.plan.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Plan));
    }
    let before = std::mem::replace(&mut row.plan.settings, settings);
    if row.plan.settings == before {
        return Ok(row.plan);
    }
    admit(tx, &actor, Some(&before), &row.plan.settings).await?;
    if row.plan.settings.devices != before.devices {
        write_devices(tx, account.id, id, &row.plan.settings.devices).await?;
        row.last_text = row.last_text.max(newest_text(tx, account.id, &row.plan.settings.devices).await?);
    }
    let is_more = row.plan.settings.devices != before.devices || !before.starts_itself;
    if is_more && bound::is_expected(&row.plan) {
        bound::require_few(tx, &row.plan).await?;
    }
    row.plan.revision = row.plan.revision.next();
    row.plan.last_modified = tx.now();
    let mut effects = Effects::of(&account, actor.origin.user);
    if let Some(outcome) = row.plan.settle(tx.now(), tx.now(), zone) {
        // New settings end a miss; nothing says that the traveller is well, but nothing is expected any more.
        let outcome = match outcome {
            Outcome::Resolved { missed, .. } => Outcome::Resolved { missed, is_withdrawn: false },
            other => other,
        };
        effects.apply(tx, &mut row.plan, vec![outcome]).await?;
    }
    effects.record(tx, &row.plan, PlanEventKind::Changed, |event| event).await?;
    save(tx, &row, zone).await?;
    announce(tx, EventKind::PlanChanged, &row.plan).await?;
    let detail = changed(&row.plan.settings.changes_since(&before));
    audit::record_with(tx, account.id, &actor.origin, "plan.update", Some(id.to_string()), detail).await?;
    Ok(row.plan)
}

pub(super) async fn delete(tx: &Tx, actor: Actor, id: PlanId, seen: Option<Revision>) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?;
    let row: PlanRow = find_row(tx, actor.scope, id).await?.ok_or(MISSING)?;
    if seen.is_some_and(|seen| seen != row.plan.revision) {
        return Err(StoreError::RevisionMismatch(Kind::Plan));
    }
    if let Some(missed) = &row.plan.progress.missed {
        Effects::of(&account, actor.origin.user).end_alerts(tx, &row.plan, missed, None).await?;
    }
    let sql = "SELECT secret FROM float_plan_link WHERE account_id = ?1 AND plan_id = ?2";
    for link in tx.query(sql, params![account.id, id]).await? {
        tx.execute("DELETE FROM share_directory WHERE secret = ?1", params![link.text("secret")?]).await?;
    }
    tx.execute("DELETE FROM float_plan WHERE account_id = ?1 AND id = ?2", params![account.id, id]).await?;
    announce(tx, EventKind::PlanDeleted, &row.plan).await?;
    audit::record(tx, account.id, &actor.origin, "plan.delete", Some(id.to_string())).await
}
