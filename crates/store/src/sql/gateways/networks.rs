//! Claimed identifiers that report from two networks: one finding for each, until an operator decides.

use perigee_core::access::actor::Origin;
use perigee_core::accounts::operator_notice::NoticeKind;
use perigee_core::gateways::network::{Network, NetworkFinding, NetworkReason};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::Result;

use crate::sql::{access::audit, accounts, accounts::operator_notices, column};
use crate::{Row, Tx, params};

/// The columns of a claim `c` that [`open_of`] reads.
pub(super) const COLUMNS: &str =
    "c.network_reason, c.known_network, c.other_network, c.network_found_at, c.network_decided_at";

/// Whether a claim `c` has a finding about which no operator decided.
pub(super) const IS_OPEN: &str = "(c.network_found_at IS NOT NULL AND c.network_decided_at IS NULL)";

fn network(row: &Row, name: &'static str) -> Result<Network> {
    Network::parse(row.str(name)?).ok_or_else(|| column::unreadable(name, "not a network"))
}

/// The finding of a claim, open or not.
fn of(row: &Row) -> Result<Option<NetworkFinding>> {
    let Some(at) = row.opt_timestamp("network_found_at")? else { return Ok(None) };
    let reason = NetworkReason::named(row.str("network_reason")?);
    let reason = reason.ok_or_else(|| column::unreadable("network_reason", "not a reason"))?;
    let (known, other) = (network(row, "known_network")?, network(row, "other_network")?);
    Ok(Some(NetworkFinding { reason, known, other, at }))
}

/// The finding of a claim about which no operator decided.
pub(super) fn open_of(row: &Row) -> Result<Option<NetworkFinding>> {
    let is_open = row.opt_timestamp("network_decided_at")?.is_none();
    Ok(of(row)?.filter(|_| is_open))
}

/// Saves a finding, unless there is an open one or an operator decided about the same networks.
pub(super) async fn save(tx: &Tx, identifier: &str, finding: NetworkFinding) -> Result<bool> {
    let sql = format!(
        "SELECT c.account_id, c.device_id, {COLUMNS} FROM identifier_claim c WHERE c.identifier = ?1"
    );
    let Some(row) = tx.query_opt(&sql, params![identifier]).await? else { return Ok(false) };
    let account = accounts::lock(tx, AccountId::from_i64(row.i64("account_id")?)).await?.id;
    // It may have been given to another account before this one was locked.
    let sql = format!("{sql} AND c.account_id = ?2");
    let Some(row) = tx.query_opt(&sql, params![identifier, account]).await? else { return Ok(false) };
    let is_same = |before: NetworkFinding| {
        let (pair, turned) = ((before.known, before.other), (before.other, before.known));
        [pair, turned].contains(&(finding.known, finding.other))
    };
    if open_of(&row)?.is_some() || of(&row)?.is_some_and(is_same) {
        return Ok(false);
    }
    let sql = "UPDATE identifier_claim SET network_reason = ?2, known_network = ?3, other_network = ?4, \
                   network_found_at = ?5, network_decided_at = NULL WHERE identifier = ?1";
    let (known, other) = (finding.known.to_string(), finding.other.to_string());
    let values = params![identifier, finding.reason.name(), &known, &other, finding.at];
    tx.execute(sql, values).await?;
    operator_notices::add(tx, account, NoticeKind::IdentifierNetworks, identifier).await?;
    let device = DeviceId::from_i64(row.i64("device_id")?);
    let detail = Some(format!("{identifier} reports from {known} and {other}"));
    audit::record_with(tx, account, &Origin::service(), "claim.networks", Some(device.to_string()), detail)
        .await?;
    Ok(true)
}
