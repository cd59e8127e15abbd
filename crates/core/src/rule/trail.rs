//! What rules know of a device now and knew some time ago, so that a late location can be judged where it belongs.

use std::borrow::Borrow;
use std::sync::Arc;

use super::{Episode, Progress, Rule};
use crate::id::RuleId;
use crate::location::{Latitude, Longitude};
use crate::time::Timestamp;

/// How far back a late location is judged for certain: seven days before the newest one.
pub const LOOK_BACK_MS: i64 = 7 * 24 * 60 * 60 * 1000;
/// Checkpoints kept of the most recent past, and one of each stretch of this length before.
const RECENT: usize = 4;
const STRETCH_MS: i64 = 12 * 60 * 60 * 1000;

/// What the rules know of a device after everything up to an instant.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// The instant.
    pub at: Timestamp,
    /// Where it was last.
    pub place: Option<(Latitude, Longitude)>,
    /// The last checkpoint, which need not be read to know when the next one is wanted. Before the first one, what knows
    /// nothing is as good as one.
    pub last_checkpoint: Option<Timestamp>,
    /// How many locations were judged since.
    pub since_checkpoint: usize,
    /// One for each rule.
    pub progresses: Vec<Progress>,
}

/// What is known of a device: now, and at some instants before, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail {
    /// Now.
    pub current: Option<Arc<Snapshot>>,
    /// Before.
    pub checkpoints: Vec<Snapshot>,
}

/// Where to begin judging.
#[derive(Clone, Debug, PartialEq)]
pub struct Start {
    /// What each rule knew, in the order of the rules.
    pub progresses: Vec<Progress>,
    /// Which of them go back.
    pub late: Vec<bool>,
    /// After which instant the history is wanted; the new locations alone are enough when absent.
    pub read_after: Option<Timestamp>,
    /// Checkpoints from this instant on do not hold any more.
    pub forget_from: Option<Timestamp>,
    /// The last checkpoint that holds.
    pub last_checkpoint: Option<Timestamp>,
    /// How many locations were judged since.
    pub since_checkpoint: usize,
    /// Where the device was then.
    pub place: Option<(Latitude, Longitude)>,
    /// Whether a rule judges the device that did not before, as it is now.
    pub began: bool,
    /// Rules that judged the device and do not any more.
    pub dropped: Vec<RuleId>,
    /// How many rules could not go back far enough.
    pub too_old: usize,
}

/// What rules say of a device after some more locations.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What is known now.
    pub snapshot: Arc<Snapshot>,
    /// When a rule will hold unless a location says otherwise.
    pub due: Option<Timestamp>,
    /// What was known on the way.
    pub checkpoints: Vec<Snapshot>,
    /// Checkpoints from this instant on do not hold any more.
    pub forget_from: Option<Timestamp>,
    /// Rules whose episodes may be others than before.
    pub touched: Vec<Touched>,
    /// Whether a rule judges the device that did not before, as it is now.
    pub began: bool,
    /// Rules that do not judge the device any more.
    pub dropped: Vec<RuleId>,
    /// How many rules could not go back far enough.
    pub too_old: usize,
}

/// A rule whose episodes may be others than before.
#[derive(Clone, Debug, PartialEq)]
pub struct Touched {
    /// The rule.
    pub rule: RuleId,
    /// Episodes that had ended by then are as they were and not told here.
    pub from: Timestamp,
    /// All the others.
    pub episodes: Vec<Episode>,
}

impl Trail {
    /// Where to begin to judge new locations of these times by these rules. A rule that did not judge the device before
    /// and is shown no location of it begins at `now`.
    pub fn start<R: Borrow<Rule>>(self, rules: &[R], times: &[Timestamp], now: Timestamp) -> Start {
        let mut start = Start {
            progresses: Vec::with_capacity(rules.len()),
            late: Vec::with_capacity(rules.len()),
            read_after: None,
            forget_from: None,
            last_checkpoint: None,
            since_checkpoint: 0,
            place: None,
            began: false,
            dropped: Vec::new(),
            too_old: 0,
        };
        let mut times = times.to_vec();
        times.sort_unstable();
        // Nobody else has it as a rule, and then nothing of it is copied.
        let current = self.current.map(Arc::unwrap_or_clone);
        let present = current.as_ref().map(Snapshot::base);
        let mut known: Vec<Option<Progress>> =
            current.map(|current| current.progresses.into_iter().map(Some).collect()).unwrap_or_default();
        for (number, rule) in rules.iter().map(Borrow::borrow).enumerate() {
            let known = take_known(&mut known, number, rule);
            start.began |= known.is_none();
            let own = &times[times.partition_point(|time| *time < rule.since)..];
            let (progress, back_to) = match known {
                Some(known) => go_on(&self.checkpoints, rule, known, own, &mut start.too_old),
                None => (Progress::blank(rule, own.first().copied().unwrap_or(now.max(rule.since))), None),
            };
            if back_to.is_some() {
                start.read_after = Some(start.read_after.map_or(progress.at, |at| at.min(progress.at)));
                start.forget_from = start.forget_from.min(back_to).or(back_to);
            }
            start.progresses.push(progress);
            start.late.push(back_to.is_some());
        }
        start.dropped = known.into_iter().flatten().map(|gone| gone.rule).collect();
        let holds = |snapshot: &&Snapshot| start.forget_from.is_none_or(|from| snapshot.at < from);
        let last = self.checkpoints.iter().rev().find(holds);
        let base = if start.read_after.is_some() { last.map(Snapshot::base) } else { present };
        (start.place, start.last_checkpoint, start.since_checkpoint) = base.unwrap_or_default();
        start
    }
}

/// Takes what is known of a rule. Both are by id, so it is mostly at the place of the rule.
fn take_known(known: &mut [Option<Progress>], number: usize, rule: &Rule) -> Option<Progress> {
    let is_its = |known: &Option<Progress>| known.as_ref().is_some_and(|known| known.rule == rule.id);
    let place = if known.get(number).is_some_and(is_its) { number } else { known.iter().position(is_its)? };
    // What it knew before it was changed is nothing now, and not of a rule that is gone either.
    known.get_mut(place)?.take().filter(|known| known.generation == rule.generation)
}

/// Where to go on with one rule that is shown locations of these times, in their order; and, when that is before where
/// it was, the earliest of them there is a way back to. Those before it are left out, and the others are judged.
fn go_on(
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

/// Where a device was last, the last checkpoint, and how many locations were judged since.
type Base = (Option<(Latitude, Longitude)>, Option<Timestamp>, usize);

impl Snapshot {
    const fn base(&self) -> Base {
        (self.place, self.last_checkpoint, self.since_checkpoint)
    }

    fn progress(&self, rule: &Rule) -> Option<&Progress> {
        let same = |known: &&Progress| known.rule == rule.id && known.generation == rule.generation;
        self.progresses.iter().find(same)
    }
}

/// A checkpoint by its instant and when it was put down.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Checkpoint {
    /// The instant.
    pub at: Timestamp,
    /// When it was put down.
    pub made: Timestamp,
}

/// Which of a device's checkpoints may go: all but the most recent, one of each stretch of the look-back, and one
/// before it. A device that was silent for weeks may send its newest location first and then what it recorded
/// meanwhile, so one that was put down a short while ago is not taken for old.
pub fn thin(checkpoints: &[Checkpoint], newest: Timestamp, now: Timestamp) -> Vec<Timestamp> {
    let mut sorted = checkpoints.to_vec();
    sorted.sort_unstable_by_key(|checkpoint| checkpoint.at);
    let horizon = newest.plus_millis(-LOOK_BACK_MS);
    let settled = now.plus_millis(-LOOK_BACK_MS);
    let base = sorted.iter().rposition(|checkpoint| checkpoint.at <= horizon && checkpoint.made <= settled);
    let recent = sorted.len().saturating_sub(RECENT);
    let mut stretch = None;
    let mut gone = Vec::new();
    for (place, checkpoint) in sorted.iter().enumerate() {
        let this = checkpoint.at.as_millis().div_euclid(STRETCH_MS);
        let first = stretch.replace(this) != Some(this);
        let old = base.is_some_and(|base| place < base);
        if old || (place < recent && !first && base != Some(place)) {
            gone.push(checkpoint.at);
        }
    }
    gone
}
