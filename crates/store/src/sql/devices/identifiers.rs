//! All identifiers under which devices report: unique in the account, and claimed by one account on shared listeners.

use std::collections::{BTreeSet, HashMap};

use perigee_core::access::actor::Scope;
use perigee_core::accounts::operator_notice::{NoticeKind, OperatorNotice};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::error::{StoreError, Unique};
use perigee_core::gateways::claim::CountedClaims;
use perigee_core::gateways::gateway::{DeviceIdentifier, Reporter};
use perigee_core::gateways::network::{Network, ProofReport};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{Additions, Queue, Result};
use perigee_core::time::Timestamp;

use super::super::locations::state_row::{self, StateRow};
use super::super::query::{Query, for_texts, insert_many};
use crate::sql::{accounts::operator_notices, column};
use crate::{Row, Tx, params};

/// Columns of a device `d` and of [`REPORTER_LIVE`] that [`reporter`] reads.
pub(crate) fn reporter_columns(tx: &Tx) -> String {
    format!("d.model, d.decoding, {}", state_row::joined_columns(tx.engine()))
}

/// Joins the facts that a device reported.
pub(crate) const REPORTER_LIVE: &str =
    "LEFT JOIN device_live l ON l.account_id = d.account_id AND l.device_id = d.id";

/// The stored form of a device's further identifiers.
pub(super) fn to_text(identifiers: &[DeviceIdentifier]) -> Result<String> {
    serde_json::to_string(identifiers).map_err(|cause| StoreError::Internal(cause.into()))
}

/// Every identifier of a device, in the order in which all transactions lock them.
pub(super) fn names(settings: &DeviceSettings) -> BTreeSet<String> {
    let further = settings.identifiers.iter().map(|each| &each.identifier);
    settings.identifier.iter().chain(further).cloned().collect()
}

/// Sorts the further identifiers as they are stored.
pub(super) fn sort(settings: &mut DeviceSettings) {
    settings
        .identifiers
        .sort_by(|a, b| (a.priority, a.identifier.as_str()).cmp(&(b.priority, b.identifier.as_str())));
}

/// Sorts the further identifiers, and fails if another device of the account has one of the identifiers.
pub(super) async fn require_free(
    tx: &Tx,
    account: AccountId,
    device: Option<DeviceId>,
    settings: &mut DeviceSettings,
) -> Result<()> {
    sort(settings);
    let names: Vec<String> = names(settings).into_iter().collect();
    let query = Query::new("SELECT device_id FROM device_identifier WHERE account_id = ?1", params![account]);
    for row in for_texts(tx, &query, " AND identifier IN ({texts})", &names).await? {
        if Some(DeviceId::from_i64(row.i64("device_id")?)) != device {
            return Err(StoreError::Taken(Unique::Identifier));
        }
    }
    Ok(())
}

/// Saves the identifiers of a device, and claims those that no account has claimed. The account is locked.
pub(super) async fn save(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    settings: &DeviceSettings,
) -> Result<()> {
    tx.mark(Additions::to_queue(Queue::Identifiers));
    let wanted = names(settings);
    let sql = "SELECT identifier FROM device_identifier WHERE account_id = ?1 AND device_id = ?2";
    let rows = tx.query(sql, params![account, device]).await?;
    let present = rows.iter().map(|row| Ok(row.text("identifier")?)).collect::<Result<BTreeSet<_>>>()?;
    for removed in present.difference(&wanted) {
        for sql in [
            "DELETE FROM device_identifier WHERE account_id = ?1 AND device_id = ?2 AND identifier = ?3",
            "DELETE FROM identifier_claim WHERE account_id = ?1 AND device_id = ?2 AND identifier = ?3",
        ] {
            tx.execute(sql, params![account, device, removed]).await?;
        }
        pass_on(tx, removed).await?;
    }
    let named: Vec<_> = wanted.iter().map(|name| params![account, device, name].to_vec()).collect();
    let head = "INSERT INTO device_identifier (account_id, device_id, identifier)";
    insert_many(tx, head, &named, "ON CONFLICT (account_id, identifier) DO NOTHING").await?;
    let proven = proof_of_new(tx).await?;
    let claim = |name: &String| params![account, device, name, tx.now(), proven].to_vec();
    let claims: Vec<_> = wanted.iter().map(claim).collect();
    let head = "INSERT INTO identifier_claim (account_id, device_id, identifier, claimed_at, proven_at)";
    insert_many(tx, head, &claims, "ON CONFLICT (identifier) DO NOTHING").await?;
    for name in wanted.difference(&present) {
        let sql = "SELECT account_id FROM identifier_claim WHERE identifier = ?1 AND account_id <> ?2";
        if tx.query_opt(sql, params![name, account]).await?.is_some() {
            operator_notices::add(tx, account, NoticeKind::IdentifierContested, name).await?;
        }
    }
    Ok(())
}

/// Saves the identifiers of devices that were just created, as [`save`] does. The account is locked.
pub(super) async fn save_new(
    tx: &Tx,
    account: AccountId,
    devices: &[(DeviceId, &DeviceSettings)],
) -> Result<()> {
    tx.mark(Additions::to_queue(Queue::Identifiers));
    let named: Vec<(DeviceId, String)> = devices
        .iter()
        .flat_map(|(id, settings)| names(settings).into_iter().map(|name| (*id, name)))
        .collect();
    let rows: Vec<_> = named.iter().map(|(id, name)| params![account, *id, name].to_vec()).collect();
    insert_many(tx, "INSERT INTO device_identifier (account_id, device_id, identifier)", &rows, "").await?;
    let proven = proof_of_new(tx).await?;
    let claim = |(id, name): &(DeviceId, String)| params![account, *id, name, tx.now(), proven].to_vec();
    let claims: Vec<_> = named.iter().map(claim).collect();
    let head = "INSERT INTO identifier_claim (account_id, device_id, identifier, claimed_at, proven_at)";
    let made =
        insert_many(tx, head, &claims, "ON CONFLICT (identifier) DO NOTHING RETURNING identifier").await?;
    if made.len() < claims.len() {
        let made = made.iter().map(|row| Ok(row.text("identifier")?)).collect::<Result<BTreeSet<_>>>()?;
        let left: Vec<String> =
            named.into_iter().map(|(_, name)| name).filter(|name| !made.contains(name)).collect();
        let query =
            Query::new("SELECT identifier FROM identifier_claim WHERE account_id <> ?1", params![account]);
        let contested = for_texts(tx, &query, " AND identifier IN ({texts})", &left).await?;
        // No more notices than are kept.
        let kept = usize::try_from(OperatorNotice::KEPT).unwrap_or(usize::MAX);
        for row in contested.iter().rev().take(kept).rev() {
            operator_notices::add(tx, account, NoticeKind::IdentifierContested, row.str("identifier")?)
                .await?;
        }
    }
    Ok(())
}

/// The time from which a new claim counts as proven: now on a server with one account, which cannot take devices from
/// another.
async fn proof_of_new(tx: &Tx) -> Result<Option<Timestamp>> {
    let accounts = tx.query("SELECT id FROM account LIMIT 2", &[]).await?.len();
    Ok((accounts == 1).then(|| tx.now()))
}

/// The identifiers that a device has claimed.
pub(super) async fn claimed_by(tx: &Tx, account: AccountId, device: DeviceId) -> Result<Vec<String>> {
    let sql = "SELECT identifier FROM identifier_claim WHERE account_id = ?1 AND device_id = ?2 ORDER BY identifier";
    let rows = tx.query(sql, params![account, device]).await?;
    rows.iter().map(|row| Ok(row.text("identifier")?)).collect()
}

/// Passes a released claim on to the oldest other device with this identifier, if there is one.
pub(super) async fn pass_on(tx: &Tx, identifier: &str) -> Result<()> {
    let sql = "INSERT INTO identifier_claim (identifier, account_id, device_id, claimed_at, proven_at) \
               SELECT identifier, account_id, device_id, CAST(?2 AS BIGINT), CAST(?3 AS BIGINT) \
               FROM device_identifier WHERE identifier = ?1 ORDER BY device_id LIMIT 1 \
               ON CONFLICT (identifier) DO NOTHING";
    tx.execute(sql, params![identifier, tx.now(), proof_of_new(tx).await?]).await?;
    tx.mark(Additions::to_queue(Queue::Identifiers));
    Ok(())
}

/// The condition for a valid claim `c`.
pub(crate) const fn counted_sql(counted: CountedClaims) -> &'static str {
    match counted {
        CountedClaims::All => "",
        CountedClaims::Proven => " AND c.proven_at IS NOT NULL",
    }
}

/// Whether a received text can be an identifier: no store has a longer one, or one with a NUL.
pub(crate) fn storable(identifier: &str) -> bool {
    !identifier.is_empty() && identifier.len() <= 400 && !identifier.contains('\0')
}

/// The device that has claimed one of these identifiers, which are tried in order, if its claim is valid.
pub(crate) async fn find_claimed(
    tx: &Tx,
    identifiers: &[String],
    counted: CountedClaims,
) -> Result<Option<Reporter>> {
    let reporter = reporter_columns(tx);
    let sql = format!(
        "SELECT c.account_id, c.device_id, c.proven_at, c.proof_network, {reporter} FROM identifier_claim c \
         JOIN device d ON d.account_id = c.account_id AND d.id = c.device_id {REPORTER_LIVE} WHERE c.identifier = ?1{}",
        counted_sql(counted)
    );
    for identifier in identifiers.iter().filter(|each| storable(each)) {
        let found = if tx.is_distributed() {
            // The claim is on every server, and its device on one: the statement must name the account.
            let of = "SELECT account_id FROM identifier_claim WHERE identifier = ?1";
            let Some(row) = tx.query_opt(of, params![identifier]).await? else { continue };
            let sql = format!("{sql} AND d.account_id = ?2");
            tx.query_opt(&sql, params![identifier, row.i64("account_id")?]).await?
        } else {
            tx.query_opt(&sql, params![identifier]).await?
        };
        if let Some(row) = found {
            let at = row.opt_timestamp("proven_at")?;
            let network = row.opt_text("proof_network")?.and_then(|text| Network::parse(&text));
            let proof = at.zip(network).map(|(at, network)| ProofReport { at, network });
            return Ok(Some(Reporter { proof, ..self::reporter(tx, &row, identifier)? }));
        }
    }
    Ok(None)
}

/// The device of an account that has one of these identifiers, which are tried in order; or this device, if it is
/// given.
pub(crate) async fn find_in_account(
    tx: &Tx,
    account: AccountId,
    device: Option<DeviceId>,
    identifiers: &[String],
) -> Result<Option<Reporter>> {
    let reporter = reporter_columns(tx);
    if let Some(device) = device {
        let sql = format!(
            "SELECT d.account_id, d.id AS device_id, {reporter}, COALESCE(d.identifier, '') AS name \
             FROM device d {REPORTER_LIVE} WHERE d.account_id = ?1 AND d.id = ?2"
        );
        let row = tx.query_opt(&sql, params![account, device]).await?;
        return row.map(|row| self::reporter(tx, &row, row.str("name")?)).transpose();
    }
    let sql = format!(
        "SELECT i.account_id, i.device_id, {reporter} FROM device_identifier i \
         JOIN device d ON d.account_id = i.account_id AND d.id = i.device_id {REPORTER_LIVE} \
         WHERE i.account_id = ?1 AND i.identifier = ?2"
    );
    for identifier in identifiers.iter().filter(|each| storable(each)) {
        if let Some(row) = tx.query_opt(&sql, params![account, identifier]).await? {
            return self::reporter(tx, &row, identifier).map(Some);
        }
    }
    Ok(None)
}

/// Like [`find_in_account`], for many lists of identifiers, with few statements.
pub(crate) async fn find_all_in_account(
    tx: &Tx,
    account: AccountId,
    device: Option<DeviceId>,
    lists: &[Vec<String>],
) -> Result<Vec<Option<Reporter>>> {
    if let Some(device) = device {
        let own = find_in_account(tx, account, Some(device), &[]).await?;
        return Ok(vec![own; lists.len()]);
    }
    if let [one] = lists {
        return Ok(vec![find_in_account(tx, account, None, one).await?]);
    }
    let names: BTreeSet<&String> = lists.iter().flatten().filter(|name| storable(name)).collect();
    let names: Vec<String> = names.into_iter().cloned().collect();
    let columns = reporter_columns(tx);
    let query = Query::new(
        format!(
            "SELECT i.account_id, i.device_id, i.identifier, {columns} FROM device_identifier i \
             JOIN device d ON d.account_id = i.account_id AND d.id = i.device_id {REPORTER_LIVE} \
             WHERE i.account_id = ?1"
        ),
        params![account],
    );
    let mut found = HashMap::new();
    for row in for_texts(tx, &query, " AND i.identifier IN ({texts})", &names).await? {
        let identifier = row.text("identifier")?;
        let reporter = reporter(tx, &row, &identifier)?;
        found.insert(identifier, reporter);
    }
    Ok(lists.iter().map(|list| list.iter().find_map(|name| found.get(name)).cloned()).collect())
}

/// The device of a row with `account_id`, `device_id` and the columns of [`reporter_columns`].
pub(crate) fn reporter(tx: &Tx, row: &Row, identifier: &str) -> Result<Reporter> {
    let account = AccountId::from_i64(row.i64("account_id")?);
    let device = DeviceId::from_i64(row.i64("device_id")?);
    let state = StateRow::joined(tx.damage(), row, account, device);
    let zone = state.as_ref().and_then(|state| state.proposed_zone_minutes);
    Ok(Reporter {
        scope: Scope::for_gateway(account),
        device,
        identifier: identifier.to_owned(),
        model: row.opt_text("model")?,
        reported_model: state.and_then(|state| state.reported_model),
        // Settings that cannot be read are reported when the device is read.
        decoding: column::json(row, "decoding").unwrap_or_default(),
        proposed_zone_minutes: zone.and_then(|minutes| minutes.try_into().ok()),
        proof: None,
    })
}
