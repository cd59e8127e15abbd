//! Episodes, the spans in which a rule was true of a device, and reconciling them with alerts raised before.

use serde::{Deserialize, Serialize};

use crate::locations::location::{Latitude, Longitude};
use crate::time::Timestamp;

/// A span in which a rule was true long enough for an alert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Episode {
    /// Time of the first location at which the rule was true.
    pub begin: Timestamp,
    /// When the rule had been true long enough: the time of the alert.
    pub met: Timestamp,
    /// Time of the first location at which the rule was false again; `None` while it is true.
    pub end: Option<Timestamp>,
    /// Where the device was at `met`.
    pub position: Option<(Latitude, Longitude)>,
}

/// An episode for which an alert was raised, as stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Occurrence<K> {
    /// Identifies the stored row.
    pub key: K,
    /// Its begin, as known when it was stored.
    pub begin: Timestamp,
    /// The time of its alert.
    pub met: Timestamp,
    /// Its end; `None` while it continues.
    pub end: Option<Timestamp>,
}

/// The change of one occurrence by reconciling.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change<K> {
    /// A new episode: raise an alert.
    Raise(Episode),
    /// The occurrence has another span: update it.
    Move(K, Episode),
    /// The occurrence did not happen or belongs to another: end its alert.
    Withdraw(K),
}

/// Compares stored occurrences with newly computed episodes of the same rule, device and span of time.
///
/// An episode that overlaps an occurrence is the same one; if it overlaps several, the earliest.
pub fn reconcile<K: Copy>(known: &[Occurrence<K>], fresh: &[Episode]) -> Vec<Change<K>> {
    let mut open: Vec<&Occurrence<K>> = known.iter().collect();
    open.sort_by_key(|occurrence| (occurrence.begin, occurrence.met));
    let mut changes = Vec::new();
    for episode in fresh {
        let Some(index) = open.iter().position(|occurrence| overlaps(occurrence, episode)) else {
            changes.push(Change::Raise(*episode));
            continue;
        };
        let same = open.remove(index);
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
        Episode { begin: at(begin), met: at(begin + 1), end: end.map(at), position: None }
    }

    fn known(key: u8, begin: i64, end: Option<i64>) -> Occurrence<u8> {
        Occurrence { key, begin: at(begin), met: at(begin + 1), end: end.map(at) }
    }

    #[test]
    fn overlapping_episodes_are_the_same() {
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
