//! Accounts that the rule engine must judge, and the leases by which nodes share them.

use std::collections::BTreeSet;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{CatchUp, Result, RoundStart};

use crate::sql::log_watch::Look;
use crate::{Row, Tx, params};

/// The accounts with unjudged log entries, or with due rules or statuses.
pub(super) async fn accounts(tx: &Tx, look: Look) -> Result<Vec<AccountId>> {
    // MAX is an index seek; an EXISTS above the cursor would make PostgreSQL read the whole log.
    let behind = "SELECT a.id FROM account a LEFT JOIN rule_follower f ON f.account_id = a.id \
        WHERE COALESCE(f.cursor, 0) < (SELECT MAX(l.last_number) FROM location_log l WHERE l.account_id = a.id)";
    let mut found = BTreeSet::new();
    if look == Look::Whole {
        for row in tx.query(behind, &[]).await? {
            found.insert(AccountId::from_i64(row.i64("id")?));
        }
        tx.log_watches().rules.found(!found.is_empty());
    }
    for (sql, values) in [
        (
            "SELECT DISTINCT account_id AS id FROM rule_trail WHERE due IS NOT NULL AND due <= ?1",
            params![tx.now()],
        ),
        ("SELECT DISTINCT account_id AS id FROM device_watch WHERE due <= ?1", params![tx.now()]),
    ] {
        for row in tx.query(sql, values).await? {
            found.insert(AccountId::from_i64(row.i64("id")?));
        }
    }
    Ok(found.into_iter().collect())
}

/// The state of an account, if this node holds its lease for long enough already.
pub(super) async fn find_own(
    tx: &Tx,
    account: AccountId,
    owner: String,
    lease_ms: i64,
) -> Result<Option<RoundStart>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM rule_follower \
         WHERE account_id = ?1 AND owner = ?2 AND leased_until > ?3 AND leased_until <= ?4"
    );
    // The rest of the lease must suffice for a round; a slower round is rejected when it is saved.
    let enough = tx.now().plus_millis(lease_ms / 2);
    let longest = tx.now().plus_millis(lease_ms);
    let row = tx.query_opt(&sql, params![account, owner, enough, longest]).await?;
    row.map(|row| round_start(tx, account, &row)).transpose()
}

const COLUMNS: &str = "cursor, round, rules_revision, caught_up_to, caught_up_end";

fn round_start(tx: &Tx, account: AccountId, row: &Row) -> Result<RoundStart> {
    let caught_up = row.opt_i64("caught_up_to")?.zip(row.opt_i64("caught_up_end")?);
    Ok(RoundStart {
        account,
        cursor: row.i64("cursor")?,
        round: row.i64("round")?,
        rules_revision: row.i64("rules_revision")?,
        catch_up: caught_up.map(|(after, end)| CatchUp { after: DeviceId::from_i64(after), end }),
        now: tx.now(),
    })
}

/// Takes the lease of an account if it is free. A lease that ends later than possible comes from a wrong clock and counts
/// as expired.
pub(super) async fn take(
    tx: &Tx,
    account: AccountId,
    owner: String,
    lease_ms: i64,
) -> Result<Option<RoundStart>> {
    tx.keep_device_cache_valid();
    let sql = format!(
        "INSERT INTO rule_follower (account_id, owner, leased_until) VALUES (?1, ?2, ?3) \
         ON CONFLICT (account_id) DO UPDATE SET owner = excluded.owner, leased_until = excluded.leased_until \
         WHERE rule_follower.owner = excluded.owner OR rule_follower.leased_until <= ?4 \
             OR rule_follower.leased_until > ?3 RETURNING {COLUMNS}"
    );
    let until = tx.now().plus_millis(lease_ms);
    let row = tx.query_opt(&sql, params![account, owner, until, tx.now()]).await?;
    row.map(|row| round_start(tx, account, &row)).transpose()
}

/// The number up to which an account's log was judged; `None` if judging has not begun.
pub(crate) async fn judged_to(tx: &Tx, account: AccountId) -> Result<Option<i64>> {
    let sql = "SELECT cursor FROM rule_follower WHERE account_id = ?1";
    let row = tx.query_opt(sql, params![account]).await?;
    Ok(row.map(|row| row.i64("cursor")).transpose()?)
}

/// Makes a device's status due for a check, after a contact or a change of its expected interval.
pub(crate) async fn wake(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let sql = "UPDATE device_watch SET due = ?3 WHERE account_id = ?1 AND device_id = ?2 AND due > ?3";
    tx.execute(sql, params![account, device, tx.now()]).await?;
    Ok(())
}
