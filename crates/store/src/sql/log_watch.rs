//! Whether anything was added to the logs since they were last read. If not, readers need not query every account.

use std::sync::{Mutex, PoisonError};

use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use crate::{Engine, Tx};

/// How long after numbers were drawn last the logs are still looked at: what they were drawn for may not be committed yet.
const COMMITTED_AFTER_MS: i64 = 10_000;

/// Where a look at some accounts begins: after this account, and after this of its webhooks.
pub(crate) type Position = (i64, i64);

/// What to read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ReadScope {
    /// The logs of all accounts, and what is due.
    Whole,
    /// Nothing was added: what is due by its time, and the logs of a few accounts after this position, so that what a lost
    /// node has left is taken over in time.
    Some(Position),
}

/// The readers of the logs on this node.
#[derive(Debug, Default)]
pub(crate) struct LogWatches {
    pub(crate) rules: LogWatch,
    pub(crate) webhooks: LogWatch,
    pub(crate) expiries: ExpiryWatch,
}

impl LogWatches {
    /// Notes that this node has added to the logs, perhaps long after it drew the numbers.
    pub(crate) fn committed(&self) {
        self.rules.found(true);
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
    /// Whether somebody was behind in the last look, or something was committed since.
    is_behind: bool,
    /// Where the next look at some accounts begins.
    position: Position,
}

impl LogWatch {
    /// What to read now. On SQLite always everything, which is cheap there.
    pub(crate) async fn look(&self, tx: &Tx) -> Result<ReadScope> {
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

    /// Says whether a look found somebody behind, who may be so after the next one too. What was committed during the look
    /// stays noted.
    pub(crate) fn found(&self, is_behind: bool) {
        if let Some(seen) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            seen.is_behind |= is_behind;
        }
    }

    /// Says where the last look at some accounts ended; `None` after the last account.
    pub(crate) fn ended(&self, position: Option<Position>) {
        if let Some(seen) = &mut *self.0.lock().unwrap_or_else(PoisonError::into_inner) {
            seen.position = position.unwrap_or(FIRST);
        }
    }
}

/// The longest time without a look at the expiry of all devices.
const EXPIRIES_EVERY_MS: i64 = 10 * 60 * 1_000;

/// Remembers when the next expiry is to be announced. A change of a device's expiry is an event, so that this stays true
/// until a number is drawn.
#[derive(Debug, Default)]
pub(crate) struct ExpiryWatch(Mutex<Option<ExpirySeen>>);

/// When the next expiry is to be announced; `None` if no device expires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct NextExpiry(pub(crate) Option<Timestamp>);

#[derive(Clone, Copy, Debug)]
struct ExpirySeen {
    number: i64,
    /// When the number was first seen.
    since: Timestamp,
    /// When all devices were last looked at.
    at: Timestamp,
    next: NextExpiry,
}

impl ExpiryWatch {
    /// The next expiry, if nothing has changed since it was looked for and it has not come.
    pub(crate) async fn known(&self, tx: &Tx) -> Result<Option<NextExpiry>> {
        if tx.engine() == Engine::Sqlite {
            return Ok(None);
        }
        Ok(self.recall(last_number(tx).await?, tx.now()))
    }

    fn recall(&self, number: i64, now: Timestamp) -> Option<NextExpiry> {
        let seen = (*self.0.lock().unwrap_or_else(PoisonError::into_inner))?;
        let was_committed = seen.at >= seen.since.plus_millis(COMMITTED_AFTER_MS);
        let is_recent = seen.at <= now && now < seen.at.plus_millis(EXPIRIES_EVERY_MS);
        let is_ahead = seen.next.0.is_none_or(|next| now < next);
        (seen.number == number && was_committed && is_recent && is_ahead).then_some(seen.next)
    }

    /// Remembers the next expiry. The number is read after it, so that a change in between is not missed.
    pub(crate) async fn remember(&self, tx: &Tx, next: NextExpiry) -> Result<()> {
        if tx.engine() == Engine::Postgres {
            self.note(last_number(tx).await?, tx.now(), next);
        }
        Ok(())
    }

    fn note(&self, number: i64, now: Timestamp, next: NextExpiry) {
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let before = seen.filter(|seen| seen.number == number);
        let since = before.map_or(now, |before| before.since.min(now));
        *seen = Some(ExpirySeen { number, since, at: now, next });
    }
}

async fn last_number(tx: &Tx) -> Result<i64> {
    Ok(tx.query_one("SELECT last_value FROM event_number", &[]).await?.i64("last_value")?)
}

/// Where tables are distributed, accounts cannot be counted off, and are divided into this many parts by their id.
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
        assert_eq!(look(2, 20_000), ReadScope::Whole, "somebody was behind");
        assert_eq!(look(2, 20_100), ReadScope::Some(FIRST));
    }

    #[test]
    fn expiries_are_looked_for_after_a_change_and_when_they_come() {
        let (watch, at) = (ExpiryWatch::default(), Timestamp::from_millis);
        let next = NextExpiry(Some(at(90_000)));
        assert_eq!(watch.recall(1, at(0)), None);
        watch.note(1, at(0), next);
        assert_eq!(
            watch.recall(1, at(10_000)),
            None,
            "the change may not have been committed when it was looked for"
        );
        watch.note(1, at(30_000), next);
        assert_eq!(watch.recall(1, at(60_000)), Some(next));
        assert_eq!(watch.recall(2, at(60_000)), None, "something changed");
        assert_eq!(watch.recall(1, at(90_000)), None, "it has come");
        assert_eq!(watch.recall(1, at(29_999)), None, "the clock was set back");
        watch.note(1, at(90_000), NextExpiry(None));
        assert_eq!(watch.recall(1, at(689_999)), Some(NextExpiry(None)));
        assert_eq!(watch.recall(1, at(690_000)), None, "to be sure");
    }

    #[test]
    fn what_this_node_commits_late_is_looked_at() {
        let watches = LogWatches::default();
        let look = |ms| watches.rules.note(1, Timestamp::from_millis(ms));
        assert_eq!(look(0), ReadScope::Whole);
        assert_eq!(look(20_000), ReadScope::Some(FIRST));
        watches.committed();
        watches.rules.found(false);
        assert_eq!(
            look(20_100),
            ReadScope::Whole,
            "also when it was committed during a look that found nothing"
        );
        assert_eq!(look(20_200), ReadScope::Some(FIRST));
    }
}
