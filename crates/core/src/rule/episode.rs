//! Episodes: from when to when a rule held of a device, and what a changed view of them means for what was raised.

use serde::{Deserialize, Serialize};

use crate::location::{Latitude, Longitude};
use crate::time::Timestamp;

/// A time in which a rule held long enough for an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episode {
    /// The first location at which it held.
    pub begin: Timestamp,
    /// The location at which it had held long enough: the time of the alert.
    pub met: Timestamp,
    /// The first location at which it did not hold any more.
    pub end: Option<Timestamp>,
    /// Where the device was when the alert was due.
    pub place: Option<(Latitude, Longitude)>,
}

/// An episode of which an alert was raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence<K> {
    /// What tells it from others.
    pub key: K,
    /// When it began, as known so far.
    pub begin: Timestamp,
    /// When it was met.
    pub met: Timestamp,
    /// When it ended, if it did.
    pub end: Option<Timestamp>,
}

/// What a changed view means for one occurrence.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<K> {
    /// There is an episode nobody was told of.
    Raise(Episode),
    /// An occurrence is another span than was known.
    Move(K, Episode),
    /// An occurrence turned out to be none, or part of another.
    Withdraw(K),
}

/// Compares what was raised with what is known now, both of one rule and device and of the same stretch of time.
///
/// An episode that overlaps an occurrence is that occurrence; of several it is the earliest.
pub fn reconcile<K: Copy>(known: &[Occurrence<K>], fresh: &[Episode]) -> Vec<Change<K>> {
    let mut open: Vec<&Occurrence<K>> = known.iter().collect();
    open.sort_by_key(|occurrence| (occurrence.begin, occurrence.met));
    let mut changes = Vec::new();
    for episode in fresh {
        let Some(place) = open.iter().position(|occurrence| overlaps(occurrence, episode)) else {
            changes.push(Change::Raise(*episode));
            continue;
        };
        let same = open.remove(place);
        if (same.begin, same.met, same.end) != (episode.begin, episode.met, episode.end) {
            changes.push(Change::Move(same.key, *episode));
        }
    }
    changes.extend(open.into_iter().map(|occurrence| Change::Withdraw(occurrence.key)));
    changes
}

fn overlaps<K>(occurrence: &Occurrence<K>, episode: &Episode) -> bool {
    let before = |begin: Timestamp, end: Option<Timestamp>| end.is_none_or(|end| begin < end);
    let both = before(occurrence.begin, episode.end) && before(episode.begin, occurrence.end);
    both || occurrence.begin == episode.begin
}

#[cfg(test)]
mod tests {
    use super::*;
    use Change::{Move, Raise, Withdraw};

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(1_000 * seconds)
    }

    fn episode(begin: i64, end: Option<i64>) -> Episode {
        Episode { begin: at(begin), met: at(begin + 1), end: end.map(at), place: None }
    }

    fn known(key: u8, begin: i64, end: Option<i64>) -> Occurrence<u8> {
        Occurrence { key, begin: at(begin), met: at(begin + 1), end: end.map(at) }
    }

    #[test]
    fn what_overlaps_is_the_same() {
        let check = |was: &[Occurrence<u8>], is: &[Episode], expect: &[Change<u8>]| {
            assert_eq!(reconcile(was, is), expect, "{was:?} against {is:?}");
        };
        check(&[], &[episode(1, None)], &[Raise(episode(1, None))]);
        check(&[known(1, 1, None)], &[episode(1, None)], &[]);
        check(&[known(1, 1, None)], &[episode(1, Some(5))], &[Move(1, episode(1, Some(5)))]);
        check(&[known(1, 4, Some(6))], &[episode(1, Some(5))], &[Move(1, episode(1, Some(5)))]);
        check(&[known(1, 5, Some(6))], &[episode(1, Some(5))], &[Raise(episode(1, Some(5))), Withdraw(1)]);
        check(
            &[known(1, 1, Some(3)), known(2, 5, None)],
            &[episode(1, None)],
            &[Move(1, episode(1, None)), Withdraw(2)],
        );
        check(
            &[known(1, 1, None)],
            &[episode(1, Some(3)), episode(5, None)],
            &[Move(1, episode(1, Some(3))), Raise(episode(5, None))],
        );
        check(&[known(1, 2, Some(2))], &[episode(2, Some(2))], &[]);
    }
}
