//! The licence check. Every decision is made under the account's lock, at an instant that never goes back.

use perigee_core::access::actor::Origin;
use perigee_core::accounts::account::Account;
use perigee_core::error::StoreError;
use perigee_core::events::event::EventKind;
use perigee_core::id::AccountId;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::sql::{access::audit, accounts, events, query::for_ids};
use crate::{Tx, params};

/// How far the clock may be behind the latest decision before a warning is logged.
const WARN_BEHIND_MS: i64 = 3_600_000;

/// Revokes every expired licence, and returns the instant at which to decide.
///
/// The instant of the latest decision is stored, and no decision is made at an earlier one, so that expired licences stay
/// revoked if the clock of a server is set back.
pub(crate) async fn settle(tx: &Tx, account: AccountId) -> Result<Timestamp> {
    let decided_at = decided_at(tx, account).await?;
    let now = tx.now().max(decided_at);
    if decided_at > tx.now().plus_millis(WARN_BEHIND_MS) {
        tracing::warn!(
            %account, %decided_at, now = %tx.now(),
            "licences were last decided at a later time: if a clock was ahead then, run \
             perigee account set --account {account} --reset-clock"
        );
    }
    if now > decided_at {
        tx.execute("UPDATE account SET decided_at = ?2 WHERE id = ?1", params![account, now]).await?;
    }
    let sweep = "UPDATE device SET licensed = FALSE, checksum = checksum - 1 \
                 WHERE account_id = ?1 AND licensed = TRUE AND expires <= ?2 RETURNING id";
    let lapsed = tx.query(sweep, params![account, now]).await?;
    let lapsed = lapsed.iter().map(|row| row.i64("id")).collect::<std::result::Result<Vec<_>, _>>()?;
    tx.log().licenses_changed(tx, account, &lapsed).await?;
    // Licences that submissions revoked. An index has only such devices; SQLite uses it for reads, not for updates.
    let noticed =
        tx.query("SELECT id FROM device WHERE account_id = ?1 AND lapsed = TRUE", params![account]).await?;
    let noticed = noticed.iter().map(|row| row.i64("id")).collect::<std::result::Result<Vec<_>, _>>()?;
    let counted = "UPDATE device SET lapsed = FALSE WHERE account_id = ?1 AND id IN ({ids})";
    for_ids(tx, counted, params![account], &noticed).await?;
    let freed = noticed.len() + lapsed.len();
    change_held(tx, account, -i64::try_from(freed).unwrap_or(i64::MAX)).await?;
    Ok(now)
}

/// Appends an event that no licence was free, at most once per day of the account.
pub(in crate::sql) async fn announce_exhausted(tx: &Tx, account: AccountId) -> Result<()> {
    let account = accounts::lock(tx, account).await?;
    let today = account.day_at(tx.now()).0.date.to_string();
    let sql = "UPDATE account SET exhausted_date = ?2 \
               WHERE id = ?1 AND (exhausted_date IS NULL OR exhausted_date <> ?2)";
    if tx.execute(sql, params![account.id, today]).await? > 0 {
        let (subject, data) = (account.id.to_string(), serde_json::json!({ "licenses": account.licenses }));
        events::append(tx, account.id, EventKind::LicenseExhausted, subject, None, data).await?;
    }
    Ok(())
}

/// Resets the instant of the latest decision to now; returns the old one if it was ahead. Revoked licences stay
/// revoked.
pub(in crate::sql) async fn reset_clock(
    tx: &Tx,
    origin: Origin,
    account: AccountId,
) -> Result<Option<Timestamp>> {
    let account = accounts::lock(tx, account).await?.id;
    let (before, now) = (decided_at(tx, account).await?, tx.now());
    if before <= now {
        return Ok(None);
    }
    tx.execute("UPDATE account SET decided_at = ?2 WHERE id = ?1", params![account, now]).await?;
    let detail = format!("licences decided at {before} -> {now}");
    audit::record_with(tx, account, &origin, "account.clock", Some(account.to_string()), Some(detail))
        .await?;
    Ok(Some(before))
}

/// The instant of the latest decision.
pub(crate) async fn decided_at(tx: &Tx, account: AccountId) -> Result<Timestamp> {
    let row = tx.query_one("SELECT decided_at FROM account WHERE id = ?1", params![account]).await?;
    Ok(row.timestamp("decided_at")?)
}

/// Changes the number of licences that devices of the account hold. Must be called in every transaction that grants or
/// revokes a licence, under the lock of the account. Submissions mark the device as `lapsed` instead.
pub(crate) async fn change_held(tx: &Tx, account: AccountId, by: i64) -> Result<()> {
    if by != 0 {
        let sql = "UPDATE account SET held_licenses = held_licenses + ?2 WHERE id = ?1";
        tx.execute(sql, params![account, by]).await?;
    }
    Ok(())
}

/// Recomputes the number of licences that devices hold, which reads all devices. The account must be locked.
pub(crate) async fn recount(tx: &Tx, account: AccountId) -> Result<()> {
    let sql = "UPDATE account SET held_licenses = (SELECT COUNT(*) FROM device d \
                   WHERE d.account_id = ?1 AND (d.licensed = TRUE OR d.lapsed = TRUE)) WHERE id = ?1";
    tx.execute(sql, params![account]).await?;
    Ok(())
}

/// Number of licences that devices hold, including expired ones unless [`settle`] was called before.
pub(crate) async fn held(tx: &Tx, account: AccountId) -> Result<u32> {
    let sql = "SELECT held_licenses FROM account WHERE id = ?1";
    Ok(tx.query_one(sql, params![account]).await?.int("held_licenses")?)
}

/// Fails if every licence is held. Call [`settle`] before.
pub(crate) async fn require_free(tx: &Tx, account: &Account) -> Result<()> {
    if free(tx, account).await? > 0 { Ok(()) } else { Err(StoreError::LicenseExhausted(account.id)) }
}

/// Licences that no device holds. Call [`settle`] before.
pub(crate) async fn free(tx: &Tx, account: &Account) -> Result<u32> {
    Ok(account.licenses.saturating_sub(held(tx, account.id).await?))
}
