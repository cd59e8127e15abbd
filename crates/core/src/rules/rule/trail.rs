//! The rule state of a device now and at earlier checkpoints, so that a late location is evaluated in its order of
//! time.

use std::borrow::Borrow;
use std::sync::Arc;

use super::{Episode, Progress, Rule};
use crate::id::RuleId;
use crate::locations::location::{Latitude, Longitude};
use crate::time::Timestamp;

/// How far before the newest location a late one is always evaluated, in milliseconds: seven days.
pub const LOOK_BACK_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// How many recent checkpoints are kept; of older ones, one per `STRETCH_MS`.
const RECENT: usize = 4;
const STRETCH_MS: i64 = 12 * 60 * 60 * 1000;

/// The state of all rules for a device after all locations up to an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// All locations up to this instant are included.
    pub at: Timestamp,
    /// Where the device was at the last location.
    pub position: Option<(Latitude, Longitude)>,
    /// Time of the last checkpoint, so that it need not be loaded to decide when the next is due. `None` before the
    /// first.
    pub last_checkpoint: Option<Timestamp>,
    /// Locations evaluated since the last checkpoint.
    pub since_checkpoint: usize,
    /// The state of each rule, sorted by id.
    pub progresses: Vec<Progress>,
}

/// The rule state of a device: the current snapshot and checkpoints, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail {
    /// The newest snapshot; `None` if nothing was evaluated yet.
    pub current: Option<Arc<Snapshot>>,
    /// Older snapshots, oldest first.
    pub checkpoints: Vec<Snapshot>,
}

/// Where an evaluation starts.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// The state of each rule, in the order of the rules.
    pub progresses: Vec<Progress>,
    /// For each rule, whether it goes back to an earlier state.
    pub late: Vec<bool>,
    /// If set, the history after this instant must be evaluated again; otherwise the new locations are enough.
    pub read_after: Option<Timestamp>,
    /// Checkpoints from this instant on are outdated.
    pub forget_from: Option<Timestamp>,
    /// The last checkpoint that is still valid.
    pub last_checkpoint: Option<Timestamp>,
    /// Locations evaluated since that checkpoint.
    pub since_checkpoint: usize,
    /// Where the device was at the start.
    pub position: Option<(Latitude, Longitude)>,
    /// Whether a rule is new for this device, or has a new generation.
    pub began: bool,
    /// Rules that no longer apply to the device.
    pub dropped: Vec<RuleId>,
    /// How many rules have no checkpoint old enough for the oldest location.
    pub too_old: usize,
}

/// The result of evaluating further locations of a device.
#[derive(Clone, Debug, PartialEq)]
pub struct Evaluation {
    /// The new current snapshot.
    pub snapshot: Arc<Snapshot>,
    /// When a rule becomes true if no further location arrives.
    pub due: Option<Timestamp>,
    /// New checkpoints, oldest first.
    pub checkpoints: Vec<Snapshot>,
    /// Older checkpoints from this instant on are outdated.
    pub forget_from: Option<Timestamp>,
    /// Rules whose episodes may have changed.
    pub touched: Vec<RuleEpisodes>,
    /// Whether a rule is new for this device, or has a new generation.
    pub began: bool,
    /// Rules that no longer apply to the device.
    pub dropped: Vec<RuleId>,
    /// How many rules have no checkpoint old enough for the oldest location.
    pub too_old: usize,
}

/// A rule whose episodes may have changed.
#[derive(Clone, Debug, PartialEq)]
pub struct RuleEpisodes {
    /// The rule they belong to.
    pub rule: RuleId,
    /// Episodes that ended before this instant are unchanged and not listed.
    pub from: Timestamp,
    /// All episodes that had not ended by `from`.
    pub episodes: Vec<Episode>,
}

impl Trail {
    /// Finds where to start evaluating new locations with these times. A rule that is new for the device and has no
    /// new location starts at `now`.
    pub fn start<R: Borrow<Rule>>(self, rules: &[R], times: &[Timestamp], now: Timestamp) -> Start {
        let mut start = Start {
            progresses: Vec::with_capacity(rules.len()),
            late: Vec::with_capacity(rules.len()),
            read_after: None,
            forget_from: None,
            last_checkpoint: None,
            since_checkpoint: 0,
            position: None,
            began: false,
            dropped: Vec::new(),
            too_old: 0,
        };
        let mut times = times.to_vec();
        times.sort_unstable();
        // Usually this is the only reference, so that nothing is cloned.
        let current = self.current.map(Arc::unwrap_or_clone);
        let present = current.as_ref().map(Snapshot::base);
        let mut known: Vec<Option<Progress>> =
            current.map(|current| current.progresses.into_iter().map(Some).collect()).unwrap_or_default();
        for (number, rule) in rules.iter().map(Borrow::borrow).enumerate() {
            let known = take_known(&mut known, number, rule);
            start.began |= known.is_none();
            let own = &times[times.partition_point(|time| *time < rule.since)..];
            let (progress, back_to) = match known {
                Some(known) => resume(&self.checkpoints, rule, known, own, &mut start.too_old),
                None => (Progress::blank(rule, own.first().copied().unwrap_or(now.max(rule.since))), None),
            };
            if back_to.is_some() {
                start.read_after = Some(start.read_after.map_or(progress.at, |at| at.min(progress.at)));
                start.forget_from = start.forget_from.min(back_to).or(back_to);
            }
            start.progresses.push(progress);
            start.late.push(back_to.is_some());
        }
        start.dropped = known.into_iter().flatten().map(|progress| progress.rule).collect();
        let holds = |snapshot: &&Snapshot| start.forget_from.is_none_or(|from| snapshot.at < from);
        let last = self.checkpoints.iter().rev().find(holds);
        let base = if start.read_after.is_some() { last.map(Snapshot::base) } else { present };
        (start.position, start.last_checkpoint, start.since_checkpoint) = base.unwrap_or_default();
        start
    }
}

/// Takes the state of a rule. Both lists are sorted by id, so it is usually at the same index.
fn take_known(known: &mut [Option<Progress>], number: usize, rule: &Rule) -> Option<Progress> {
    let is_its = |known: &Option<Progress>| known.as_ref().is_some_and(|known| known.rule == rule.id);
    let index = if known.get(number).is_some_and(is_its) { number } else { known.iter().position(is_its)? };
    // State of an older generation of the rule is discarded.
    known.get_mut(index)?.take().filter(|known| known.generation == rule.generation)
}

/// The state from which one rule continues, given the sorted times of new locations. If it goes back, also the
/// earliest of these times it can go back to; locations before that are left out, the others are evaluated.
fn resume(
    checkpoints: &[Snapshot],
    rule: &Rule,
    known: Progress,
    times: &[Timestamp],
    too_old: &mut usize,
) -> (Progress, Option<Timestamp>) {
    if times.first().is_none_or(|first| known.at < *first) {
        return (known, None);
    }
    let earlier = || checkpoints.iter().rev().filter_map(|checkpoint| checkpoint.progress(rule));
    let oldest = earlier().map(|earlier| earlier.at).min();
    let is_near = |time: Timestamp| known.at.as_millis() - known.since.min(time).as_millis() <= LOOK_BACK_MS;
    let is_in_reach = |time: &Timestamp| oldest.is_some_and(|oldest| oldest < *time) || is_near(*time);
    let out_of_reach = times.iter().take_while(|time| !is_in_reach(time)).count();
    *too_old += usize::from(out_of_reach > 0);
    let Some(back_to) = times.get(out_of_reach).copied().filter(|time| *time <= known.at) else {
        return (known, None);
    };
    let before = earlier().find(|earlier| earlier.at < back_to).cloned();
    (before.unwrap_or_else(|| Progress::blank(rule, known.since.min(back_to))), Some(back_to))
}

/// Last position, last checkpoint, and locations evaluated since.
type Base = (Option<(Latitude, Longitude)>, Option<Timestamp>, usize);

impl Snapshot {
    const fn base(&self) -> Base {
        (self.position, self.last_checkpoint, self.since_checkpoint)
    }

    fn progress(&self, rule: &Rule) -> Option<&Progress> {
        let same = |known: &&Progress| known.rule == rule.id && known.generation == rule.generation;
        self.progresses.iter().find(same)
    }
}

/// The times of a checkpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// All locations up to this instant are included.
    pub at: Timestamp,
    /// When it was written, by the server's clock.
    pub made: Timestamp,
}

/// The checkpoints that can be deleted: all but the most recent, one per stretch of the look-back, and one before it.
/// A device that was silent for weeks may send its newest location first and then what it recorded before, so
/// recently written checkpoints are kept even if their instant is old.
pub fn prunable_checkpoints(checkpoints: &[Checkpoint], newest: Timestamp, now: Timestamp) -> Vec<Timestamp> {
    let mut sorted = checkpoints.to_vec();
    sorted.sort_unstable_by_key(|checkpoint| checkpoint.at);
    let horizon = newest.plus_millis(-LOOK_BACK_MS);
    let settled = now.plus_millis(-LOOK_BACK_MS);
    let base = sorted.iter().rposition(|checkpoint| checkpoint.at <= horizon && checkpoint.made <= settled);
    let recent = sorted.len().saturating_sub(RECENT);
    let mut stretch = None;
    let mut prunable = Vec::new();
    for (index, checkpoint) in sorted.iter().enumerate() {
        let this = checkpoint.at.as_millis().div_euclid(STRETCH_MS);
        let first = stretch.replace(this) != Some(this);
        let old = base.is_some_and(|base| index < base);
        if old || (index < recent && !first && base != Some(index)) {
            prunable.push(checkpoint.at);
        }
    }
    prunable
}
