//! Whether anything was added to the logs since they were last read. If not, readers need not query every account.

use std::sync::{Mutex, PoisonError};

use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::{Engine, Tx};

/// How long the logs are still read after numbers were drawn: the commit that drew them may be pending.
const COMMITTED_AFTER_MS: i64 = 10_000;

/// The position after which a read of some accounts begins: the ID of an account, and the ID of one of its webhooks.
pub(crate) type Position = (i64, i64);

/// The rows to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadScope {
    /// The logs of all accounts, and everything due.
    Whole,
    /// Nothing was added: entries that are due by time, and the logs of a few accounts after this position, so that the
    /// work of a lost node is taken over in time.
    Some(Position),
}

/// The readers of the logs on this node.
#[derive(Debug, Default)]
pub(crate) struct LogWatches {
    pub(crate) rules: LogWatch,
    pub(crate) timelines: LogWatch,
    pub(crate) webhooks: LogWatch,
}

impl LogWatches {
    /// Records that this node has added to the logs, perhaps long after it drew the numbers.
    pub(crate) fn committed(&self) {
        self.rules.found(true);
        self.timelines.found(true);
        self.webhooks.found(true);
    }
}

/// Remembers the last number that was drawn, for one reader of the logs.
#[derive(Debug, Default)]
pub(crate) struct LogWatch(Mutex<Option<Seen>>);

#[derive(Clone, Copy, Debug)]
struct Seen {
    number: i64,
    /// When the number was first seen.
    since: Timestamp,
    /// Whether a reader was behind at the last read, or something was committed since.
    is_behind: bool,
    /// Where the next read of some accounts begins.
    position: Position,
}

impl LogWatch {
    /// The rows to read now. On SQLite always all, which is cheap there.
    pub(crate) async fn read_scope(&self, tx: &Tx) -> Result<ReadScope> {
        if tx.engine() == Engine::Sqlite {
            return Ok(ReadScope::Whole);
        }
        Ok(self.note(last_number(tx).await?, tx.now()))
    }

    fn note(&self, number: i64, now: Timestamp) -> ReadScope {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = *seen;
        let since = match before {
            Some(seen) if seen.number == number => seen.since.min(now),
            _ => now,
        };
        if let Some(seen) = before
            && !seen.is_behind
            && now >= since.plus_millis(COMMITTED_AFTER_MS)
        {
            return ReadScope::Some(seen.position);
        }
        let position = before.map_or(FIRST, |seen| seen.position);
        *seen = Some(Seen { number, since, is_behind: false, position });
        ReadScope::Whole
    }

    /// Records whether a read found that a reader is behind: it may still be behind after the next read. A commit
    /// during the read stays recorded.
    pub(crate) fn found(&self, is_behind: bool) {
        if let Some(seen) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            seen.is_behind |= is_behind;
        }
    }

    /// Records where the last read of some accounts ended; `None` after the last account.
    pub(crate) fn ended(&self, position: Option<Position>) {
        if let Some(seen) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            seen.position = position.unwrap_or(FIRST);
        }
    }
}

async fn last_number(tx: &Tx) -> Result<i64> {
    Ok(tx.query_one("SELECT last_value FROM event_number", &[]).await?.i64("last_value")?)
}

/// Where tables are distributed, accounts are not read in the order of their ids, but divided into this many parts by
/// their id.
pub(crate) const PARTS: i64 = 100;

/// The part of the accounts at this position, and the position after it.
pub(crate) fn part_of((position, _): Position) -> (i64, Option<Position>) {
    let part = position.rem_euclid(PARTS);
    (part, Some((part + 1, 0)))
}

/// Before every account.
const FIRST: Position = (i64::MIN, i64::MIN);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_accounts_are_read_while_something_may_have_been_added() {
        let watch = LogWatch::default();
        let look = |number, ms| watch.note(number, Timestamp::from_millis(ms));
        assert_eq!(look(1, 0), ReadScope::Whole);
        assert_eq!(look(1, 9_999), ReadScope::Whole, "it may be committed only now");
        assert_eq!(look(1, 10_000), ReadScope::Some(FIRST));
        watch.ended(Some((7, 1)));
        assert_eq!(look(1, 60_000), ReadScope::Some((7, 1)), "the next ones");
        watch.ended(None);
        assert_eq!(look(1, 61_000), ReadScope::Some(FIRST), "all over again");
        assert_eq!(look(2, 62_000), ReadScope::Whole);
        assert_eq!(look(2, 62_300), ReadScope::Whole);
        assert_eq!(look(2, 5_000), ReadScope::Whole, "the clock was set back");
        watch.found(true);
        assert_eq!(look(2, 20_000), ReadScope::Whole, "a reader was behind");
        assert_eq!(look(2, 20_100), ReadScope::Some(FIRST));
    }

    #[test]
    fn late_commits_of_this_node_are_read() {
        let watches = LogWatches::default();
        let look = |ms| watches.rules.note(1, Timestamp::from_millis(ms));
        assert_eq!(look(0), ReadScope::Whole);
        assert_eq!(look(20_000), ReadScope::Some(FIRST));
        watches.committed();
        watches.rules.found(false);
        assert_eq!(
            look(20_100),
            ReadScope::Whole,
            "also when it was committed during a read that found nothing"
        );
        assert_eq!(look(20_200), ReadScope::Some(FIRST));
    }
}
