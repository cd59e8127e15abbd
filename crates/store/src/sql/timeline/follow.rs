//! Accounts whose timelines are behind, and the leases by which nodes share them.

use std::collections::BTreeSet;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::{CatchUp, Result, TimelineRound};

use crate::sql::events::log_watch::{PARTS, Position, ReadScope, part_of};
use crate::sql::query::waiting_accounts;
use crate::{Row, Tx, params};

/// Number of accounts that one read examines while nothing is added to the logs.
const ACCOUNTS_PER_READ: i64 = 100;

/// SQL condition: an account has locations that were not read, or its log was never followed. MAX is an index seek.
const IS_BEHIND: &str = "(NOT EXISTS (SELECT 1 FROM timeline_follower n WHERE n.account_id = a.id) \
     OR EXISTS (SELECT 1 FROM timeline_follower c WHERE c.account_id = a.id AND c.caught_up_end IS NOT NULL) \
     OR (SELECT f.cursor FROM timeline_follower f WHERE f.account_id = a.id) \
         < (SELECT MAX(l.last_number) FROM location_log l WHERE l.account_id = a.id))";

/// Accounts with entries of the log that were not read, or with marked devices.
pub(super) async fn accounts(tx: &Tx) -> Result<Vec<AccountId>> {
    let mut found = match tx.log_watches().timelines.read_scope(tx).await? {
        ReadScope::Whole => {
            let sql = format!("SELECT a.id FROM account a WHERE {IS_BEHIND}");
            tx.query(&sql, &[]).await?.iter().map(account).collect::<Result<BTreeSet<_>>>()?
        }
        ReadScope::Some(position) if tx.is_distributed() => part_behind(tx, position).await?,
        ReadScope::Some((after, _)) => some_behind(tx, after).await?,
    };
    tx.log_watches().timelines.found(!found.is_empty());
    for is_marked in ["dirty_from IS NOT NULL", "drivers_from IS NOT NULL"] {
        let sql = if tx.is_distributed() {
            format!("SELECT DISTINCT account_id AS id FROM timeline_device WHERE {is_marked}")
        } else {
            let waiting = waiting_accounts("timeline_device", is_marked);
            format!("WITH RECURSIVE {waiting} SELECT id FROM waiting WHERE id IS NOT NULL")
        };
        for row in tx.query(&sql, &[]).await? {
            found.insert(account(&row)?);
        }
    }
    Ok(found.into_iter().collect())
}

fn account(row: &Row) -> Result<AccountId> {
    Ok(AccountId::from_i64(row.i64("id")?))
}

/// Accounts that are behind among the next part of all accounts, where tables are distributed.
async fn part_behind(tx: &Tx, position: Position) -> Result<BTreeSet<AccountId>> {
    let (part, next) = part_of(position);
    tx.log_watches().timelines.ended(next);
    let sql = format!("SELECT a.id FROM account a WHERE a.id % {PARTS} = ?1 AND {IS_BEHIND}");
    tx.query(&sql, params![part]).await?.iter().map(account).collect()
}

/// Accounts that are behind among the next [`ACCOUNTS_PER_READ`].
async fn some_behind(tx: &Tx, after: i64) -> Result<BTreeSet<AccountId>> {
    let sql = format!(
        "SELECT a.id, CASE WHEN {IS_BEHIND} THEN 1 ELSE 0 END AS is_behind \
         FROM (SELECT id FROM account WHERE id > ?1 ORDER BY id LIMIT {ACCOUNTS_PER_READ}) a ORDER BY a.id"
    );
    let rows = tx.query(&sql, params![after]).await?;
    let last = rows.last().map(|row| row.i64("id")).transpose()?;
    tx.log_watches().timelines.ended(last.map(|last| (last, 0)));
    let mut found = BTreeSet::new();
    for row in &rows {
        if row.i64("is_behind")? == 1 {
            found.insert(account(row)?);
        }
    }
    Ok(found)
}

/// The state of an account, if this node already holds its lease and the rest of it suffices for a round.
pub(super) async fn find_own(
    tx: &Tx,
    account: AccountId,
    owner: String,
    lease_ms: i64,
) -> Result<Option<TimelineRound>> {
    let sql = format!(
        "SELECT {COLUMNS} FROM timeline_follower \
         WHERE account_id = ?1 AND owner = ?2 AND leased_until > ?3 AND leased_until <= ?4"
    );
    // A round that takes longer than the rest of the lease is rejected when it is saved.
    let enough = tx.now().plus_millis(lease_ms / 2);
    let longest = tx.now().plus_millis(lease_ms);
    let row = tx.query_opt(&sql, params![account, owner, enough, longest]).await?;
    row.map(|row| round(account, &row)).transpose()
}

const COLUMNS: &str = "cursor, round, caught_up_to, caught_up_end";

fn round(account: AccountId, row: &Row) -> Result<TimelineRound> {
    let caught_up = row.opt_i64("caught_up_to")?.zip(row.opt_i64("caught_up_end")?);
    Ok(TimelineRound {
        account,
        cursor: row.i64("cursor")?,
        round: row.i64("round")?,
        catch_up: caught_up.map(|(after, end)| CatchUp { after: DeviceId::from_i64(after), end }),
    })
}

/// Takes the lease of an account if it is free. A lease that ends later than possible comes from a wrong clock and
/// counts as expired.
///
/// If the account was never followed, all its devices are marked first, by id, because the log may no longer have their
/// locations. The log is then read from where it ended when this began.
pub(super) async fn take(
    tx: &Tx,
    account: AccountId,
    owner: String,
    lease_ms: i64,
) -> Result<Option<TimelineRound>> {
    let sql = format!(
        "INSERT INTO timeline_follower (account_id, owner, leased_until, caught_up_to, caught_up_end) \
         VALUES (?1, ?2, ?3, ?5, 0) \
         ON CONFLICT (account_id) DO UPDATE SET owner = excluded.owner, leased_until = excluded.leased_until \
         WHERE timeline_follower.owner = excluded.owner OR timeline_follower.leased_until <= ?4 \
             OR timeline_follower.leased_until > ?3 RETURNING {COLUMNS}"
    );
    let until = tx.now().plus_millis(lease_ms);
    let row = tx.query_opt(&sql, params![account, owner, until, tx.now(), i64::MIN]).await?;
    row.map(|row| round(account, &row)).transpose()
}

/// Commits a round and extends the lease of its owner. Returns false if another node has committed it.
pub(super) async fn advance(
    tx: &Tx,
    old: &TimelineRound,
    cursor: i64,
    catch_up: Option<CatchUp>,
    (owner, lease_ms): (String, i64),
) -> Result<bool> {
    let sql = "UPDATE timeline_follower SET cursor = ?2, round = round + 1, caught_up_to = ?4, caught_up_end = ?5, \
                   leased_until = CASE WHEN owner = ?6 THEN ?7 ELSE leased_until END \
               WHERE account_id = ?1 AND round = ?3";
    let (to, end) = catch_up.map(|progress| (progress.after, progress.end)).unzip();
    let until = tx.now().plus_millis(lease_ms);
    let values = params![old.account, cursor, old.round, to, end, owner, until];
    Ok(tx.execute(sql, values).await? > 0)
}

/// Draws `count` numbers for changes of an account's segments; returns the first. The account is locked, so numbers are
/// committed in ascending order.
pub(super) async fn take_changes(tx: &Tx, account: AccountId, count: usize) -> Result<i64> {
    let count = i64::try_from(count).unwrap_or(i64::MAX);
    let sql = "UPDATE timeline_follower SET change_number = change_number + ?2 WHERE account_id = ?1 \
               RETURNING change_number";
    let last = tx.query_one(sql, params![account, count]).await?.i64("change_number")?;
    Ok(last - count + 1)
}

/// The log number up to which an account's log was read for its timelines; `None` if that has not begun.
pub(crate) async fn followed_to(tx: &Tx, account: AccountId) -> Result<Option<i64>> {
    let sql = "SELECT cursor FROM timeline_follower WHERE account_id = ?1 AND caught_up_end IS NULL";
    let row = tx.query_opt(sql, params![account]).await?;
    Ok(row.map(|row| row.i64("cursor")).transpose()?)
}
