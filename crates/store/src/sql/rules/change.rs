//! Creating, replacing and deleting rules.

use perigee_core::access::actor::Actor;
use perigee_core::access::audit::changed;
use perigee_core::error::{Kind, StoreError};
use perigee_core::id::{AccountId, RuleId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::revision::Revision;
use perigee_core::rules::rule::{Rule, RuleSettings, RuleTarget};
use perigee_core::store::Result;

use super::super::query::{for_ids, insert_many};
use super::read;
use crate::sql::rules::rule_engine::{check_all, end_occurrences};
use crate::sql::{
    access::audit, accounts, idempotency, ids, locations::geofences, notifications::routing, scope, search,
};
use crate::{Row, Tx, Value, params};

/// Raises the revision of an account's rules and geofences, which every node compares before its next round.
pub(in crate::sql) async fn bump_revision(tx: &Tx, account: AccountId) -> Result<()> {
    let sql = "INSERT INTO rule_follower (account_id, rules_revision) VALUES (?1, 1) \
               ON CONFLICT (account_id) DO UPDATE SET rules_revision = rule_follower.rules_revision + 1";
    tx.execute(sql, params![account]).await?;
    Ok(())
}

/// Starts a new generation of these rules. They evaluate locations from now on, and open occurrences end.
pub(in crate::sql) async fn start_generation(tx: &Tx, account: AccountId, rules: Vec<Row>) -> Result<()> {
    let ids = rules.iter().map(|row| Ok(row.i64("id")?)).collect::<Result<Vec<i64>>>()?;
    let rules: Vec<RuleId> = ids.iter().copied().map(RuleId::from_i64).collect();
    end_occurrences(tx, account, &rules).await?;
    let sql =
        "UPDATE rule SET generation = generation + 1, since = ?2 WHERE account_id = ?1 AND id IN ({ids})";
    for_ids(tx, sql, params![account, Rule::since(tx.now())], &ids).await?;
    Ok(())
}

/// Validates and normalises settings; what they name must be visible.
async fn admit(
    tx: &Tx,
    actor: &Actor,
    before: Option<&RuleSettings>,
    mut settings: RuleSettings,
) -> Result<RuleSettings> {
    let scope = actor.scope;
    let target = &mut settings.target;
    target.devices.sort_unstable();
    target.groups.sort_unstable();
    scope::require_devices(tx, scope, &target.devices).await?;
    scope::require_groups(tx, scope, &target.groups).await?;
    if target.all && !scope.is_whole() {
        return Err(StoreError::OutOfReach(Kind::Rule));
    }
    for fence in settings.geofences() {
        let mut query = geofences::select("f.id", scope);
        query.push_with(" AND f.id = {}", fence);
        if query.row(tx).await?.is_none() {
            return Err(StoreError::UnknownReference { kind: Kind::Geofence, id: fence.to_string() });
        }
    }
    let before = before.map(|before| &before.routing);
    routing::require_named(tx, actor, before, Some(&settings.routing)).await?;
    Ok(settings)
}

fn settings_text(settings: &RuleSettings) -> Result<String> {
    // The target is stored in tables of its own.
    let bare = RuleSettings { target: RuleTarget::default(), ..settings.clone() };
    serde_json::to_string(&bare).map_err(|cause| StoreError::Internal(cause.into()))
}

fn search_text(settings: &RuleSettings) -> String {
    search::searchable(&[Some(&settings.name), settings.description.as_deref()])
}

/// Replaces the target and the geofences of a rule.
async fn write_links(tx: &Tx, account: AccountId, id: RuleId, settings: &RuleSettings) -> Result<()> {
    for table in ["rule_device", "rule_group", "rule_fence"] {
        let sql = format!("DELETE FROM {table} WHERE account_id = ?1 AND rule_id = ?2");
        tx.execute(&sql, params![account, id]).await?;
    }
    let target = &settings.target;
    let rows = |values: Vec<Value>| -> Vec<Vec<Value>> {
        values.into_iter().map(|value| vec![account.into(), id.into(), value]).collect()
    };
    let devices = rows(target.devices.iter().map(|device| Value::from(*device)).collect());
    let groups = rows(target.groups.iter().map(|group| Value::from(*group)).collect());
    let fences = rows(settings.geofences().into_iter().map(Value::from).collect());
    insert_many(tx, "INSERT INTO rule_device (account_id, rule_id, device_id)", &devices, "").await?;
    insert_many(tx, "INSERT INTO rule_group (account_id, rule_id, group_id)", &groups, "").await?;
    insert_many(tx, "INSERT INTO rule_fence (account_id, rule_id, geofence_id)", &fences, "").await?;
    Ok(())
}

/// Lets the rule engine look soon when each device makes a rule about the time without a trip true.
async fn check_absence(tx: &Tx, account: AccountId, settings: &RuleSettings) -> Result<()> {
    if settings.enabled && settings.no_trip_ms().is_some() {
        check_all(tx, account).await?;
    }
    Ok(())
}

async fn record_audit(
    tx: &Tx,
    actor: &Actor,
    action: &str,
    id: RuleId,
    detail: Option<String>,
) -> Result<()> {
    audit::record_with(tx, actor.scope.account, &actor.origin, action, Some(id.to_string()), detail).await
}

async fn reread(tx: &Tx, actor: &Actor, id: RuleId) -> Result<Rule> {
    read::find(tx, actor.scope, id).await?.ok_or(StoreError::NotFound(Kind::Rule))
}

pub(super) async fn create(
    tx: &Tx,
    actor: Actor,
    settings: RuleSettings,
    once: Option<IdempotencyKey>,
) -> Result<Created<Rule>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    let count = "SELECT COUNT(*) AS count FROM rule WHERE account_id = ?1";
    if tx.query_one(count, params![account]).await?.i64("count")? >= i64::from(RuleSettings::PER_ACCOUNT_MAX)
    {
        return Err(StoreError::TooMany { kind: Kind::Rule, most: RuleSettings::PER_ACCOUNT_MAX });
    }
    let settings = admit(tx, &actor, None, settings).await?;
    let id = RuleId::from_i64(ids::fresh_id(tx, "rule", account).await?);
    let sql = "INSERT INTO rule (account_id, id, revision, generation, since, all_devices, settings, search, \
                   creation, last_modified, watches_trips) VALUES (?1, ?2, 1, 1, ?7, ?4, ?5, ?6, ?3, ?3, ?8)";
    let (text, search) = (settings_text(&settings)?, search_text(&settings));
    let since = Rule::since(tx.now());
    let (all, trips) = (settings.target.all, settings.watches_trips());
    tx.execute(sql, params![account, id, tx.now(), all, text, search, since, trips]).await?;
    write_links(tx, account, id, &settings).await?;
    bump_revision(tx, account).await?;
    check_absence(tx, account, &settings).await?;
    let rule = reread(tx, &actor, id).await?;
    record_audit(tx, &actor, "rule.create", id, None).await?;
    idempotency::keep(tx, account, once.as_ref(), &rule).await?;
    Ok(Created::Now(rule))
}

/// A rule that the actor may change. If the scope is a part of the account, the rule must apply to no device outside
/// it.
async fn changeable(tx: &Tx, actor: &Actor, id: RuleId) -> Result<Rule> {
    let scope = actor.scope;
    let whole = read::find_whole(tx, scope, id).await?.ok_or(StoreError::NotFound(Kind::Rule))?;
    let shown = reread(tx, actor, id).await?;
    let all = whole.settings.target.all && !scope.is_whole();
    if all || shown != whole { Err(StoreError::OutOfReach(Kind::Rule)) } else { Ok(whole) }
}

pub(super) async fn replace(
    tx: &Tx,
    actor: Actor,
    id: RuleId,
    seen: Revision,
    settings: RuleSettings,
) -> Result<Rule> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let before = changeable(tx, &actor, id).await?;
    if before.revision != seen {
        return Err(StoreError::RevisionMismatch(Kind::Rule));
    }
    let settings = admit(tx, &actor, Some(&before.settings), settings).await?;
    if settings == before.settings {
        return Ok(before);
    }
    let sql = "UPDATE rule SET revision = revision + 1, all_devices = ?3, settings = ?4, search = ?5, \
               last_modified = ?6, watches_trips = ?7 WHERE account_id = ?1 AND id = ?2 RETURNING id";
    let (text, search) = (settings_text(&settings)?, search_text(&settings));
    let (all, trips) = (settings.target.all, settings.watches_trips());
    let rows = tx.query(sql, params![account, id, all, text, search, tx.now(), trips]).await?;
    write_links(tx, account, id, &settings).await?;
    if !settings.evaluates_like(&before.settings) {
        start_generation(tx, account, rows).await?;
    }
    bump_revision(tx, account).await?;
    check_absence(tx, account, &settings).await?;
    let detail = changed(&settings.changes_since(&before.settings));
    record_audit(tx, &actor, "rule.update", id, detail).await?;
    reread(tx, &actor, id).await
}

pub(super) async fn delete(tx: &Tx, actor: Actor, id: RuleId, seen: Option<Revision>) -> Result<()> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let rule = changeable(tx, &actor, id).await?;
    if seen.is_some_and(|seen| seen != rule.revision) {
        return Err(StoreError::RevisionMismatch(Kind::Rule));
    }
    end_occurrences(tx, account, &[id]).await?;
    tx.execute("DELETE FROM rule WHERE account_id = ?1 AND id = ?2", params![account, id]).await?;
    bump_revision(tx, account).await?;
    record_audit(tx, &actor, "rule.delete", id, None).await
}
