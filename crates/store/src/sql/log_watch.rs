//! Whether anything was added to the logs since they were last read. If not, readers need not query every account.

use std::sync::{Mutex, PoisonError};

use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::{Engine, Tx};

/// How long after the last number was drawn all accounts are still read, in milliseconds: the transaction that drew it may
/// not have committed yet.
const COMMIT_WITHIN_MS: i64 = 2_000;
/// The longest time between two reads of all accounts, in milliseconds, so that work of a node that died is taken over.
const READ_ALL_EVERY_MS: i64 = 10_000;

/// What to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// The logs of all accounts, and what is due.
    Whole,
    /// Nothing was added: only what is due at a set time.
    DueOnly,
}

/// The readers of the logs on this node.
#[derive(Debug, Default)]
pub(crate) struct LogWatches {
    pub(crate) rules: LogWatch,
    pub(crate) webhooks: LogWatch,
}

/// Remembers the last number that was drawn, for one reader of the logs.
#[derive(Debug, Default)]
pub(crate) struct LogWatch(Mutex<Option<Seen>>);

#[derive(Clone, Copy, Debug)]
struct Seen {
    number: i64,
    /// When the number was first seen.
    since: Timestamp,
    /// When all accounts were last read.
    all_read_at: Timestamp,
    /// Whether the reader had not reached the end of every log then.
    is_behind: bool,
}

impl LogWatch {
    /// What to read now. On SQLite always everything, which is cheap there.
    pub(crate) async fn look(&self, tx: &Tx) -> Result<Look> {
        if tx.engine() == Engine::Sqlite {
            return Ok(Look::Whole);
        }
        let number = tx.query_one("SELECT last_value FROM event_number", &[]).await?.i64("last_value")?;
        Ok(self.note(number, tx.now()))
    }

    fn note(&self, number: i64, now: Timestamp) -> Look {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let since = match *seen {
            Some(seen) if seen.number == number => seen.since.min(now),
            _ => now,
        };
        let is_recent = |at: Timestamp, ms| now < at.plus_millis(ms) && at <= now;
        if let Some(seen) = *seen
            && !seen.is_behind
            && !is_recent(since, COMMIT_WITHIN_MS)
            && is_recent(seen.all_read_at, READ_ALL_EVERY_MS)
        {
            return Look::DueOnly;
        }
        *seen = Some(Seen { number, since, all_read_at: now, is_behind: false });
        Look::Whole
    }

    /// Records whether reading all accounts left some log unread, so that all are read again next time.
    pub(crate) fn found(&self, is_behind: bool) {
        if let Some(seen) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            seen.is_behind = is_behind;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_accounts_are_read_while_something_may_have_been_added() {
        let watch = LogWatch::default();
        let look = |number, ms| watch.note(number, Timestamp::from_millis(ms));
        assert_eq!(look(1, 0), Look::Whole);
        assert_eq!(look(1, 1_999), Look::Whole, "the commit may come late");
        assert_eq!(look(1, 2_000), Look::DueOnly);
        assert_eq!(look(1, 11_998), Look::DueOnly);
        assert_eq!(look(1, 11_999), Look::Whole, "to take over from a dead node");
        assert_eq!(look(1, 12_100), Look::DueOnly);
        assert_eq!(look(2, 12_200), Look::Whole);
        assert_eq!(look(2, 12_300), Look::Whole);
        assert_eq!(look(2, 5_000), Look::Whole, "the clock was set back");
        watch.found(true);
        assert_eq!(look(2, 9_000), Look::Whole, "the reader was behind");
        assert_eq!(look(2, 9_100), Look::DueOnly);
    }
}
