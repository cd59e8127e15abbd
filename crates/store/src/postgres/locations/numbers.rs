//! The numbers of the log: drawn from a sequence in blocks, and read up to the first that may still be missing.
//!
//! Submissions of an account run in parallel, so a number may be committed after a higher one. Before a submission
//! draws numbers, it announces the last number drawn so far: it takes an advisory lock whose key contains that number,
//! and PostgreSQL releases the lock after the commit is visible. A reader first reads the last number drawn, then the
//! lowest number that a submission of the account has announced, and then takes its snapshot; it reads up to the lower
//! of the two. A submission whose lock the reader does not see has either committed, and is in the snapshot, or will
//! draw numbers above the last one that the reader has read.

use perigee_core::id::AccountId;
use perigee_core::store::Result;

use crate::{Tx, params};

/// Numbers of a block: the increment of the sequence. A drawn number is the last of its block.
pub(super) const BLOCK: i64 = 8_192;

/// Announces that numbers above the last one will be drawn. The key of the lock is negative, so that it cannot
/// collide with the locks of accounts.
pub(in crate::postgres) const ANNOUNCE: &str =
    "SELECT pg_advisory_xact_lock_shared(-1 - last_value) FROM event_number";

/// Draws this many blocks. Names the sequence, because looking it up by its column takes far longer. The planner does
/// not see the number, or it would plan again each time.
pub(super) const DRAW: &str =
    "SELECT nextval('event_number') FROM generate_series(1, (SELECT CAST($1 AS BIGINT)))";

const LAST: &str = "SELECT last_value FROM event_number";

/// The lowest number announced by a connection that also holds the lock of the account. `pg_locks` shows a key in
/// halves.
const ANNOUNCED: &str = "WITH held AS ( \
        SELECT pid, (CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT) AS key FROM pg_locks \
        WHERE locktype = 'advisory' AND objsubid = 1 AND granted \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) \
    SELECT MIN(-1 - n.key) AS number FROM held a JOIN held n ON n.pid = a.pid \
    WHERE a.key = ?1 AND n.key < 0";

/// The number up to which the log of the account is complete in a snapshot that is taken after this call.
pub(super) async fn horizon(tx: &Tx, account: AccountId) -> Result<i64> {
    let last = tx.query_one(LAST, &[]).await?.i64("last_value")?;
    let announced = tx.query_one(ANNOUNCED, params![account]).await?.opt_i64("number")?;
    Ok(announced.map_or(last, |announced| announced.min(last)))
}

/// How many blocks this many locations need.
pub(super) fn blocks(locations: usize) -> i64 {
    i64::try_from(locations).unwrap_or(i64::MAX).saturating_add(BLOCK - 1) / BLOCK
}

/// All numbers of drawn blocks, ascending.
pub(super) fn numbers(mut drawn: Vec<i64>) -> impl Iterator<Item = i64> {
    drawn.sort_unstable();
    drawn.into_iter().flat_map(|last| last - (BLOCK - 1)..=last)
}
