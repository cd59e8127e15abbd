//! Claims of identifiers on listeners that all accounts share: proven by a report in an announced interval, or by an
//! operator.

use perigee_core::access::actor::{Actor, Origin, Scope};
use perigee_core::error::{Kind, StoreError};
use perigee_core::gateways::claim::{Claim, ClaimState, ClaimingDevice, OpenClaim};
use perigee_core::gateways::network::{Network, NetworkFinding};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{Additions, Claims, Queue, Result};
use perigee_core::time::Timestamp;

use super::networks;
use crate::forward::forward;
use crate::sql::query::Query;
use crate::sql::{access::audit, accounts, scope};
use crate::{Row, Tx, params};

const DAY_S: i64 = 86_400;

/// The claims of a device `i` of an account, with the interval that was announced to it.
const OF_DEVICE: &str = "\
    SELECT i.identifier, c.proven_at, c.account_id AS holder, c.device_id AS holding, p.window_from, p.window_until \
    FROM device_identifier i \
    LEFT JOIN identifier_claim c ON c.identifier = i.identifier \
    LEFT JOIN claim_proof p ON p.account_id = i.account_id AND p.identifier = i.identifier \
    WHERE i.account_id = ?1 AND i.device_id = ?2";

fn from_row(row: &Row, account: AccountId, device: DeviceId) -> Result<Claim> {
    let holder = (row.opt_i64("holder")?, row.opt_i64("holding")?);
    let is_own = holder == (Some(account.as_i64()), Some(device.as_i64()));
    let state = match (is_own, row.opt_timestamp("proven_at")?) {
        (true, Some(_)) => ClaimState::Proven,
        (true, None) => ClaimState::Unproven,
        (false, None) if holder.0.is_none() => ClaimState::Unproven,
        (false, _) => ClaimState::Elsewhere,
    };
    let window = row.opt_timestamp("window_from")?.zip(row.opt_timestamp("window_until")?);
    Ok(Claim { identifier: row.text("identifier")?, state, window })
}

async fn list(tx: &Tx, scope: Scope, device: DeviceId) -> Result<Vec<Claim>> {
    let mut query = Query::new(OF_DEVICE, params![scope.account, device]);
    scope::keep_devices(&mut query, scope, "i.device_id");
    query.push(" ORDER BY i.identifier");
    query.rows(tx).await?.iter().map(|row| from_row(row, scope.account, device)).collect()
}

async fn begin(
    tx: &Tx,
    actor: Actor,
    device: DeviceId,
    identifier: String,
    from: Timestamp,
) -> Result<Option<Claim>> {
    let account = accounts::lock(tx, actor.scope.account).await?.id;
    let find = async || {
        let claims = list(tx, actor.scope, device).await?;
        let found = claims.into_iter().find(|claim| claim.identifier == identifier);
        found.ok_or(StoreError::NotFound(Kind::Device))
    };
    let claim = find().await?;
    let sql = "SELECT proven_at FROM identifier_claim WHERE identifier = ?1 AND proven_at IS NOT NULL";
    if tx.query_opt(sql, params![&identifier]).await?.is_some() {
        return Ok(Some(claim));
    }
    let since = tx.now().plus_seconds(-DAY_S);
    // A time in the future was written by a wrong clock.
    let sql = "SELECT CAST(COALESCE(SUM(tries), 0) AS BIGINT) AS tries, \
                   CAST(COALESCE(SUM(CASE WHEN identifier = ?2 THEN tries ELSE 0 END), 0) AS BIGINT) AS own \
               FROM claim_proof WHERE account_id = ?1 AND tried_since > ?3 AND tried_since <= ?4";
    let row = tx.query_one(sql, params![account, &identifier, since, tx.now()]).await?;
    let (all, own): (u32, u32) = (row.int("tries")?, row.int("own")?);
    if own >= Claim::TRIES_A_DAY || all >= Claim::TRIES_A_DAY_IN_ALL {
        return Ok(None);
    }
    let sql = "INSERT INTO claim_proof (account_id, identifier, device_id, window_from, window_until, tried_since, tries) \
               VALUES (?1, ?2, ?3, ?4, ?5, ?6, 1) \
               ON CONFLICT (account_id, identifier) DO UPDATE SET device_id = excluded.device_id, \
                   window_from = excluded.window_from, window_until = excluded.window_until, \
                   tried_since = CASE WHEN CAST(?7 AS BIGINT) = 0 THEN excluded.tried_since ELSE claim_proof.tried_since END, \
                   tries = CAST(?7 AS BIGINT) + 1";
    let until = from.plus_seconds(Claim::WINDOW_S);
    tx.execute(sql, params![account, &identifier, device, from, until, tx.now(), own]).await?;
    let detail = Some(format!("to prove {identifier}"));
    audit::record_with(tx, account, &actor.origin, "claim.begin", Some(device.to_string()), detail).await?;
    find().await.map(Some)
}

/// Handles a report of an identifier without a proven claim on a shared listener. A report in the announced interval
/// proves the claim; a report at another time ends the attempt. A report in the intervals of two accounts proves
/// nothing.
pub(in crate::sql) async fn heard(tx: &Tx, identifier: &str, at: Timestamp, peer: &str) -> Result<()> {
    let sql = "SELECT p.account_id, p.device_id, p.window_from, p.window_until FROM claim_proof p \
               JOIN device_identifier i ON i.account_id = p.account_id AND i.identifier = p.identifier \
                   AND i.device_id = p.device_id \
               WHERE p.identifier = ?1 AND p.window_until IS NOT NULL";
    let rows = tx.query(sql, params![identifier]).await?;
    if rows.is_empty() {
        return Ok(());
    }
    let mut proven = Vec::new();
    for row in &rows {
        let (from, until) = (row.timestamp("window_from")?, row.timestamp("window_until")?);
        if (from..=until).contains(&at) {
            proven.push((
                AccountId::from_i64(row.i64("account_id")?),
                DeviceId::from_i64(row.i64("device_id")?),
            ));
        }
    }
    let sql = "UPDATE claim_proof SET window_from = NULL, window_until = NULL WHERE identifier = ?1";
    tx.execute(sql, params![identifier]).await?;
    if let [(account, device)] = proven[..] {
        give(tx, identifier, (account, device), Network::of_peer(peer)).await?;
        tracing::info!(%account, %device, identifier, "a claim was proven by a report in its interval");
    }
    Ok(())
}

/// Assigns an identifier to a device, unless another device has proved its claim. `network` is where the proof came
/// from.
async fn give(
    tx: &Tx,
    identifier: &str,
    (account, device): (AccountId, DeviceId),
    network: Option<Network>,
) -> Result<()> {
    let sql = "INSERT INTO identifier_claim (identifier, account_id, device_id, claimed_at, proven_at, proof_network) \
               VALUES (?1, ?2, ?3, ?4, ?4, ?5) \
               ON CONFLICT (identifier) DO UPDATE SET account_id = excluded.account_id, \
                   device_id = excluded.device_id, claimed_at = excluded.claimed_at, \
                   proven_at = excluded.proven_at, proof_network = excluded.proof_network \
               WHERE identifier_claim.proven_at IS NULL";
    let network = network.map(|network| network.to_string());
    tx.execute(sql, params![identifier, account, device, tx.now(), network]).await?;
    tx.mark(Additions::to_queue(Queue::Identifiers));
    Ok(())
}

/// Lists open claims: those that are not proven, whose networks are open, or whose identifier several accounts have.
fn open_sql(tx: &Tx) -> String {
    let (with, heard, contested, is_contested) = if tx.is_distributed() {
        (
            "WITH several AS MATERIALIZED ( \
                 SELECT identifier FROM device_identifier GROUP BY identifier HAVING COUNT(*) > 1), \
             heard AS MATERIALIZED ( \
                 SELECT identifier, last_heard, peer FROM heard_device WHERE account_id = 0)",
            "LEFT JOIN heard h ON h.identifier = i.identifier",
            "LEFT JOIN several o ON o.identifier = i.identifier",
            "o.identifier IS NOT NULL",
        )
    } else {
        (
            "",
            "LEFT JOIN heard_device h ON h.account_id = 0 AND h.identifier = i.identifier",
            "",
            "EXISTS (SELECT 1 FROM device_identifier o WHERE o.identifier = i.identifier \
                 AND o.account_id <> i.account_id)",
        )
    };
    format!(
        "{with} SELECT i.identifier, i.account_id, a.name AS account_name, i.device_id, c.proven_at, \
             CASE WHEN c.account_id = i.account_id AND c.device_id = i.device_id THEN 1 ELSE 0 END AS holds, \
             h.last_heard, h.peer, {columns}, CASE WHEN {is_open} THEN 1 ELSE 0 END AS has_networks \
         FROM device_identifier i \
         JOIN account a ON a.id = i.account_id \
         LEFT JOIN identifier_claim c ON c.identifier = i.identifier \
         {heard} {contested} \
         WHERE c.proven_at IS NULL OR {is_open} OR {is_contested} \
         ORDER BY has_networks DESC, i.identifier, holds DESC, i.account_id LIMIT 1000",
        columns = networks::COLUMNS,
        is_open = networks::IS_OPEN,
    )
}

async fn list_open(tx: &Tx) -> Result<Vec<OpenClaim>> {
    let mut claims: Vec<OpenClaim> = Vec::new();
    for row in tx.query(&open_sql(tx), &[]).await? {
        let identifier = row.text("identifier")?;
        let device = ClaimingDevice {
            account: AccountId::from_i64(row.i64("account_id")?),
            account_name: row.text("account_name")?,
            device: DeviceId::from_i64(row.i64("device_id")?),
            is_holder: row.i64("holds")? == 1,
        };
        match claims.last_mut().filter(|last| last.identifier == identifier) {
            Some(last) => last.devices.push(device),
            None => claims.push(OpenClaim {
                identifier,
                proven_at: row.opt_timestamp("proven_at")?,
                devices: vec![device],
                heard: row.opt_timestamp("last_heard")?.zip(row.opt_text("peer")?),
                networks: networks::open_of(&row)?,
            }),
        }
    }
    Ok(claims)
}

async fn assign(tx: &Tx, origin: Origin, identifier: String, device: DeviceId) -> Result<()> {
    let sql = "SELECT account_id FROM device_identifier WHERE identifier = ?1 AND device_id = ?2";
    let row = tx.query_opt(sql, params![&identifier, device]).await?;
    let row = row.ok_or(StoreError::NotFound(Kind::Device))?;
    let account = accounts::lock(tx, AccountId::from_i64(row.i64("account_id")?)).await?.id;
    // The networks stay, so that they are not found again.
    let sql = "UPDATE identifier_claim SET proven_at = NULL, \
                   network_decided_at = CASE WHEN network_found_at IS NULL THEN NULL ELSE CAST(?2 AS BIGINT) END \
               WHERE identifier = ?1";
    tx.execute(sql, params![&identifier, tx.now()]).await?;
    give(tx, &identifier, (account, device), None).await?;
    let sql = "UPDATE claim_proof SET window_from = NULL, window_until = NULL WHERE identifier = ?1";
    tx.execute(sql, params![&identifier]).await?;
    let detail = Some(format!("given {identifier} by an operator"));
    audit::record_with(tx, account, &origin, "claim.assign", Some(device.to_string()), detail).await
}

forward! {
    impl Claims for Database {
        read list_claims(&self, scope: Scope, device: DeviceId) -> Vec<Claim> = list;
        write begin_proof(&self, &actor: Actor, device: DeviceId, &identifier: str, from: Timestamp)
            -> Option<Claim> = begin;
        write save_network_finding(&self, &identifier: str, finding: NetworkFinding)
            -> bool = networks::save(&identifier, finding);
        read list_open_claims(&self) -> Vec<OpenClaim> = list_open;
        write assign_claim(&self, &origin: Origin, &identifier: str, device: DeviceId) -> () = assign;
    }
}
