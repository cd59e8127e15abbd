//! Accounts with work for the rule engine, and the leases by which nodes share them.

use std::collections::BTreeSet;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{Additions, CatchUp, Result, RoundStart};

use crate::sql::events::log_watch::{PARTS, Position, ReadScope, part_of};
use crate::{Row, Tx, params};

/// Accounts that one read examines while nothing is added to the logs.
const ACCOUNTS_PER_READ: i64 = 100;

/// Whether an account has log entries that are not evaluated. MAX is an index seek; an EXISTS above the cursor would
/// make PostgreSQL read the whole log.
const IS_BEHIND: &str = "COALESCE((SELECT f.cursor FROM rule_follower f WHERE f.account_id = a.id), 0) \
     < (SELECT MAX(l.last_number) FROM location_log l WHERE l.account_id = a.id)";

/// The accounts with log entries that were not evaluated, or with due rules or statuses.
pub(super) async fn accounts(tx: &Tx, read_scope: ReadScope) -> Result<Vec<AccountId>> {
    let mut found = match read_scope {
        ReadScope::Whole => {
            let sql = format!("SELECT a.id FROM account a WHERE {IS_BEHIND}");
            tx.query(&sql, &[]).await?.iter().map(account).collect::<Result<BTreeSet<_>>>()?
        }
        ReadScope::Some(position) if tx.is_distributed() => part_behind(tx, position).await?,
        ReadScope::Some((after, _)) => some_behind(tx, after).await?,
    };
    tx.log_watches().rules.found(!found.is_empty());
    let due = "SELECT account_id AS id FROM rule_trail WHERE due IS NOT NULL AND due <= ?1 \
               UNION SELECT account_id AS id FROM device_watch WHERE due <= ?1";
    for row in tx.query(due, params![tx.now()]).await? {
        found.insert(account(&row)?);
    }
    Ok(found.into_iter().collect())
}

fn account(row: &Row) -> Result<AccountId> {
    Ok(AccountId::from_i64(row.i64("id")?))
}

/// The accounts with log entries to evaluate in the next part of all accounts, where tables are distributed.
async fn part_behind(tx: &Tx, position: Position) -> Result<BTreeSet<AccountId>> {
    let (part, next) = part_of(position);
    tx.log_watches().rules.ended(next);
    let sql = format!("SELECT a.id FROM account a WHERE a.id % {PARTS} = ?1 AND {IS_BEHIND}");
    tx.query(&sql, params![part]).await?.iter().map(account).collect()
}

/// The accounts with log entries to evaluate among the next few.
async fn some_behind(tx: &Tx, after: i64) -> Result<BTreeSet<AccountId>> {
    let sql = format!(
        "SELECT a.id, CASE WHEN {IS_BEHIND} THEN 1 ELSE 0 END AS is_behind \
         FROM (SELECT id FROM account WHERE id > ?1 ORDER BY id LIMIT {ACCOUNTS_PER_READ}) a ORDER BY a.id"
    );
    let rows = tx.query(&sql, params![after]).await?;
    let last = rows.last().map(|row| row.i64("id")).transpose()?;
    tx.log_watches().rules.ended(last.map(|last| (last, 0)));
    let mut found = BTreeSet::new();
    for row in &rows {
        if row.i64("is_behind")? == 1 {
            found.insert(account(row)?);
        }
    }
    Ok(found)
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

/// Takes the lease of an account if it is free. A lease that ends later than possible comes from a wrong clock and
/// counts as expired.
pub(super) async fn take(
    tx: &Tx,
    account: AccountId,
    owner: String,
    lease_ms: i64,
) -> Result<Option<RoundStart>> {
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

/// The number up to which an account's log was evaluated; `None` if evaluation has not begun.
pub(crate) async fn evaluated_to(tx: &Tx, account: AccountId) -> Result<Option<i64>> {
    let sql = "SELECT cursor FROM rule_follower WHERE account_id = ?1";
    let row = tx.query_opt(sql, params![account]).await?;
    Ok(row.map(|row| row.i64("cursor")).transpose()?)
}

/// Makes a device's status due for a check, after a contact or a change of its expected interval.
pub(crate) async fn wake(tx: &Tx, account: AccountId, device: DeviceId) -> Result<()> {
    let sql = "UPDATE device_watch SET due = ?3 WHERE account_id = ?1 AND device_id = ?2 AND due > ?3";
    if tx.execute(sql, params![account, device, tx.now()]).await? > 0 {
        tx.mark(Additions::to_account(account));
    }
    Ok(())
}
