//! Gateways of accounts: created, listed, and found by their secret.

use perigee_core::access::actor::{Actor, Scope};
use perigee_core::devices::reporting_interval::ReportingInterval;
use perigee_core::error::{Kind, StoreError};
use perigee_core::events::event::EventKind;
use perigee_core::gateways::account_gateway::{Gateway, GatewaySettings, NewGateway};
use perigee_core::gateways::feed_health::{GatewayState, HourlyCounts, PollState};
use perigee_core::gateways::gateway::Reporter;
use perigee_core::gateways::message_contents::RequestMessage;
use perigee_core::id::{AccountId, DeviceId, GatewayId, UserId};
use perigee_core::idempotency::{Created, IdempotencyKey};
use perigee_core::page::{Page, PageRequest};
use perigee_core::revision::Revision;
use perigee_core::store::{AccountGateways, Result};
use perigee_core::time::Timestamp;

use crate::forward::forward;
use crate::sql::gateways::gateway_reports::append_event;
use crate::sql::{
    access::audit, accounts, column, devices, gateways::gateway_changes, gateways::messages, idempotency,
    ids, scope,
};
use crate::{Row, Tx, params};

const COLUMNS: &str =
    "account_id, id, feed, name, device_id, options, secret_hash, created_by, creation, polled";

/// A gateway with its state.
const SELECT: &str = "SELECT g.account_id, g.id, g.feed, g.name, g.device_id, g.options, g.secret_hash, g.created_by, \
    g.creation, g.polled, g.revision, g.last_modified, g.previous_until, s.last_message, s.hours, s.rhythm, s.errors, s.last_error, s.last_error_at, s.refused, \
    s.refused_at, s.late_since, s.cursor, s.complete_to, s.next_poll, s.failures, s.fence \
    FROM gateway g JOIN gateway_state s ON s.account_id = g.account_id AND s.gateway_id = g.id";

fn from_row(row: &Row) -> Result<Gateway> {
    Ok(Gateway {
        id: GatewayId::from_i64(row.i64("id")?),
        account: AccountId::from_i64(row.i64("account_id")?),
        settings: NewGateway {
            feed: row.text("feed")?,
            name: row.opt_text("name")?,
            device: row.opt_i64("device_id")?.map(DeviceId::from_i64),
            options: row.text("options")?,
            secret_hash: column::hash(row, "secret_hash")?,
            polled: row.bool("polled")?,
        },
        revision: Revision(row.i64("revision")?),
        created_by: row.opt_i64("created_by")?.map(UserId::from_i64),
        creation: row.timestamp("creation")?,
        last_modified: row.opt_timestamp("last_modified")?,
        previous_until: row.opt_timestamp("previous_until")?,
        state: state(row)?,
    })
}

fn state(row: &Row) -> Result<GatewayState> {
    let last_error = row.opt_timestamp("last_error_at")?.zip(row.opt_text("last_error")?);
    let poll = |next| -> Result<PollState> {
        Ok(PollState {
            cursor: row.text("cursor")?,
            next,
            failures: row.int("failures")?,
            complete_to: row.opt_timestamp("complete_to")?,
        })
    };
    Ok(GatewayState {
        last_message: row.opt_timestamp("last_message")?,
        hours: row.opt_bytes_ref("hours")?.map(HourlyCounts::from_bytes).unwrap_or_default(),
        interval_s: reporting_interval(row)?.interval_s(),
        errors: row.int("errors")?,
        last_error,
        refused: row.int("refused")?,
        refused_at: row.opt_timestamp("refused_at")?,
        late_since: row.opt_timestamp("late_since")?,
        poll: row.opt_timestamp("next_poll")?.map(poll).transpose()?,
    })
}

/// The learned interval between messages of a gateway.
pub(in crate::sql) fn reporting_interval(row: &Row) -> Result<ReportingInterval> {
    Ok(row.opt_bytes_ref("rhythm")?.map(ReportingInterval::from_bytes).unwrap_or_default())
}

/// Fails unless the scope is the whole account, because gateways concern the whole account.
pub(in crate::sql) fn require_whole(scope: Scope) -> Result<()> {
    if scope.is_whole() { Ok(()) } else { Err(StoreError::NotFound(Kind::Gateway)) }
}

async fn create(
    tx: &Tx,
    actor: Actor,
    new: NewGateway,
    once: Option<IdempotencyKey>,
) -> Result<Created<Gateway>> {
    require_whole(actor.scope)?;
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    if let Some(made) = idempotency::find(tx, account, once.as_ref()).await? {
        return Ok(Created::Before(made));
    }
    if let Some(device) = new.device {
        scope::require_devices(tx, actor.scope, &[device]).await?;
    }
    let sql = "SELECT COUNT(*) AS count FROM gateway WHERE account_id = ?1";
    if tx.query_one(sql, params![account]).await?.i64("count")? >= i64::from(Gateway::COUNT_MAX) {
        return Err(StoreError::TooMany { kind: Kind::Gateway, most: Gateway::COUNT_MAX });
    }
    let id = ids::fresh_id(tx, "gateway", account).await?;
    let sql = format!("INSERT INTO gateway ({COLUMNS}) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10)");
    let by = actor.origin.user;
    let values = params![
        account,
        id,
        &new.feed,
        new.name,
        new.device,
        &new.options,
        new.secret_hash,
        by,
        tx.now(),
        new.polled,
    ];
    tx.execute(&sql, values).await?;
    let next_poll = new.polled.then(|| tx.now());
    let late_at = next_poll.map(|next| next.plus_millis(PollState::OVERDUE_MS));
    let sql =
        "INSERT INTO gateway_state (account_id, gateway_id, next_poll, late_at) VALUES (?1, ?2, ?3, ?4)";
    tx.execute(sql, params![account, id, next_poll, late_at]).await?;
    let made = find_by_id(tx, account, GatewayId::from_i64(id)).await?;
    let gateway = made.ok_or(StoreError::NotFound(Kind::Gateway))?.0;
    append_event(tx, &gateway, EventKind::GatewayCreated, serde_json::json!({})).await?;
    audit::record(tx, account, &actor.origin, "gateway.create", Some(gateway.id.to_string())).await?;
    idempotency::keep(tx, account, once.as_ref(), &gateway).await?;
    Ok(Created::Now(gateway))
}

async fn list(tx: &Tx, scope: Scope, page: PageRequest) -> Result<Page<Gateway>> {
    if !scope.is_whole() {
        return Ok(Page { items: Vec::new(), next: None });
    }
    let sql = format!("{SELECT} WHERE g.account_id = ?1 AND g.id > ?2 ORDER BY g.id LIMIT ?3");
    let values = params![scope.account, page.after.unwrap_or(i64::MIN), i64::from(page.limit) + 1];
    let gateways = tx.query(&sql, values).await?.iter().map(from_row).collect::<Result<Vec<_>>>()?;
    Ok(Page::cut(gateways, page.limit, |gateway| gateway.id.as_i64()))
}

/// The gateways of an account with this feed, by id.
async fn of_feed(tx: &Tx, scope: Scope, feed: &'static str) -> Result<Vec<Gateway>> {
    let sql = format!("{SELECT} WHERE g.account_id = ?1 AND g.feed = ?2 ORDER BY g.id");
    tx.query(&sql, params![scope.account, feed]).await?.iter().map(from_row).collect()
}

async fn find(tx: &Tx, secret_hash: [u8; 32]) -> Result<Option<Gateway>> {
    let present = format!("{SELECT} WHERE g.secret_hash = ?1");
    if let Some(row) = tx.query_opt(&present, params![secret_hash]).await? {
        return from_row(&row).map(Some);
    }
    let previous = format!("{SELECT} WHERE g.previous_hash = ?1 AND g.previous_until > ?2");
    tx.query_opt(&previous, params![secret_hash, tx.now()]).await?.as_ref().map(from_row).transpose()
}

/// A gateway, and the learned interval between its messages.
pub(in crate::sql) async fn find_by_id(
    tx: &Tx,
    account: AccountId,
    id: GatewayId,
) -> Result<Option<(Gateway, ReportingInterval)>> {
    let sql = format!("{SELECT} WHERE g.account_id = ?1 AND g.id = ?2");
    let row = tx.query_opt(&sql, params![account, id]).await?;
    row.as_ref().map(|row| Ok((from_row(row)?, reporting_interval(row)?))).transpose()
}

forward! {
    impl AccountGateways for Database {
        write create_gateway(&self, &actor: Actor, new: NewGateway, once: Option<IdempotencyKey>)
            -> Created<Gateway> = create;
        read gateways_of_feed(&self, scope: Scope, feed: &'static str) -> Vec<Gateway> = of_feed;
        read list_gateways(&self, scope: Scope, page: PageRequest) -> Page<Gateway> = list;
        write replace_gateway(&self, &actor: Actor, id: GatewayId, seen: Revision, settings: GatewaySettings)
            -> Gateway = gateway_changes::replace;
        write renew_gateway_secret(
            &self, &actor: Actor, id: GatewayId, secret_hash: [u8; 32], until: Timestamp
        ) -> Gateway = gateway_changes::renew;
        write delete_gateway(
            &self, &actor: Actor, id: GatewayId, seen: Option<Revision>,
            unless_messages_since: Option<Timestamp>
        ) -> () = gateway_changes::delete;
        read find_message_gateway(&self, account: AccountId, id: GatewayId)
            -> Option<Gateway> = gateway_changes::find_also_deleted;
        read find_gateway(&self, secret_hash: [u8; 32]) -> Option<Gateway> = find;
        read find_gateway_devices(&self, gateway: &Gateway, identifiers: Vec<Vec<String>>)
            -> Vec<Option<Reporter>> = devices::find_all_in_account(account, device, &identifiers)
            with account = gateway.account, device = gateway.settings.device;
        write store_gateway_message(&self, gateway: &Gateway, message: RequestMessage)
            -> () = messages::add(account, &message)
            with account = gateway.account;
    }
}
