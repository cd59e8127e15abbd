//! Whether anything was added to the logs since the last look, so that a look at every account can be left out.

use std::sync::{Mutex, PoisonError};

use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::{Engine, Tx};

/// How long after numbers were drawn last the logs are still looked at: what they were drawn for may not be committed yet.
const COMMITTED_AFTER_MS: i64 = 2_000;
/// The longest time without a look at every account, so that what a lost node has left is taken over.
const WHOLE_EVERY_MS: i64 = 10_000;

/// What to look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Look {
    /// The logs of all accounts, and what is due.
    Whole,
    /// Nothing was added: only what is due by its time.
    DueOnly,
}

/// Those who follow the logs on this node.
#[derive(Debug, Default)]
pub(crate) struct LogWatches {
    pub(crate) rules: LogWatch,
    pub(crate) webhooks: LogWatch,
}

/// Remembers the last number that was drawn, for one of those who follow the logs.
#[derive(Debug, Default)]
pub(crate) struct LogWatch(Mutex<Option<Seen>>);

#[derive(Clone, Copy, Debug)]
struct Seen {
    number: i64,
    /// When the number was first seen.
    since: Timestamp,
    /// When all accounts were last looked at.
    whole: Timestamp,
    /// Whether somebody was behind then.
    is_behind: bool,
}

impl LogWatch {
    /// What to look at now. On SQLite looking costs little.
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
            && !is_recent(since, COMMITTED_AFTER_MS)
            && is_recent(seen.whole, WHOLE_EVERY_MS)
        {
            return Look::DueOnly;
        }
        *seen = Some(Seen { number, since, whole: now, is_behind: false });
        Look::Whole
    }

    /// Says whether a look at all accounts found somebody behind, who may be so after the next one too.
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
    fn every_account_is_looked_at_while_something_may_have_been_added() {
        let watch = LogWatch::default();
        let look = |number, ms| watch.note(number, Timestamp::from_millis(ms));
        assert_eq!(look(1, 0), Look::Whole);
        assert_eq!(look(1, 1_999), Look::Whole, "it may be committed only now");
        assert_eq!(look(1, 2_000), Look::DueOnly);
        assert_eq!(look(1, 11_998), Look::DueOnly);
        assert_eq!(look(1, 11_999), Look::Whole, "for what others have left");
        assert_eq!(look(1, 12_100), Look::DueOnly);
        assert_eq!(look(2, 12_200), Look::Whole);
        assert_eq!(look(2, 12_300), Look::Whole);
        assert_eq!(look(2, 5_000), Look::Whole, "the clock was set back");
        watch.found(true);
        assert_eq!(look(2, 9_000), Look::Whole, "somebody was behind");
        assert_eq!(look(2, 9_100), Look::DueOnly);
    }
}
