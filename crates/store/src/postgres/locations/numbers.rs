//! The numbers of the log: drawn in blocks, and read up to where none is missing.
//!
//! Submissions of an account run side by side, so a number may be committed after a higher one. Each of them, before it
//! draws, announces the last number that was drawn so far by an advisory lock whose key says it, which is released after
//! its commit is visible. A reader looks up the last number that was drawn, then the lowest that a submission of the
//! account has announced, and takes its snapshot after that. Whoever is not among those announced has either committed,
//! and is in the snapshot, or will draw above the first of these.

use perigee_core::id::AccountId;
use perigee_core::store::Result;

use crate::{Tx, params};

/// The increment of the sequence. A number that is drawn stands for itself and those below it, down to the one before.
pub(super) const BLOCK: i64 = 8_192;

/// Announces that numbers above the last one will be drawn. Keys below 0 are no accounts.
pub(super) const ANNOUNCE: &str = "SELECT pg_advisory_xact_lock_shared(-1 - last_value) FROM event_number";

/// Draws so many blocks. The sequence by name: looking it up by its column takes far longer than drawing from it.
pub(super) const DRAW: &str = "SELECT nextval('event_number') FROM generate_series(1, CAST($1 AS BIGINT))";

const LAST: &str = "SELECT last_value FROM event_number";

/// The lowest number that a connection has announced which also has the lock of the account. Two halves make a key.
const ANNOUNCED: &str = "WITH held AS ( \
        SELECT pid, (CAST(classid AS BIGINT) << 32) | CAST(objid AS BIGINT) AS key FROM pg_locks \
        WHERE locktype = 'advisory' AND objsubid = 1 AND granted \
        AND database = (SELECT oid FROM pg_database WHERE datname = current_database())) \
    SELECT MIN(-1 - n.key) AS number FROM held a JOIN held n ON n.pid = a.pid \
    WHERE a.key = ?1 AND n.key < 0";

/// The number up to which the log of the account can be read from a snapshot that is taken after this.
pub(super) async fn horizon(tx: &Tx, account: AccountId) -> Result<i64> {
    let last = tx.query_one(LAST, &[]).await?.i64("last_value")?;
    let announced = tx.query_one(ANNOUNCED, params![account]).await?.opt_i64("number")?;
    Ok(announced.map_or(last, |announced| announced.min(last)))
}

/// How many blocks so many locations need.
pub(super) fn blocks(locations: usize) -> i64 {
    i64::try_from(locations).unwrap_or(i64::MAX).saturating_add(BLOCK - 1) / BLOCK
}

/// The numbers of blocks, ascending.
pub(super) fn numbers(mut drawn: Vec<i64>) -> impl Iterator<Item = i64> {
    drawn.sort_unstable();
    drawn.into_iter().flat_map(|last| last - (BLOCK - 1)..=last)
}
