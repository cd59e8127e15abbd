//! What rules know of a device now and knew some time ago, so that a late location can be judged where it belongs.

use serde::{Deserialize, Serialize};

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
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Snapshot {
    /// The instant.
    #[serde(rename = "t")]
    pub at: Timestamp,
    /// Where it was last.
    #[serde(rename = "p")]
    pub place: Option<(Latitude, Longitude)>,
    /// How many locations were judged since the last checkpoint.
    #[serde(rename = "n")]
    pub since_checkpoint: usize,
    /// One for each rule.
    #[serde(rename = "r")]
    pub progresses: Vec<Progress>,
}

/// What is known of a device: now, and at some instants before, oldest first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail {
    /// Now.
    pub current: Option<Snapshot>,
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
    /// When the last checkpoint that holds was put down.
    pub last_checkpoint: Timestamp,
    /// How many locations were judged since.
    pub since_checkpoint: usize,
    /// Where the device was then.
    pub place: Option<(Latitude, Longitude)>,
    /// Rules that judged the device and do not any more.
    pub dropped: Vec<RuleId>,
    /// How many rules could not go back far enough.
    pub too_old: usize,
}

/// What rules say of a device after some more locations.
#[derive(Clone, Debug, PartialEq)]
pub struct Judgement {
    /// What is known now.
    pub snapshot: Snapshot,
    /// When a rule will hold unless a location says otherwise.
    pub due: Option<Timestamp>,
    /// What was known on the way.
    pub checkpoints: Vec<Snapshot>,
    /// Checkpoints from this instant on do not hold any more.
    pub forget_from: Option<Timestamp>,
    /// Rules whose episodes may be others than before.
    pub touched: Vec<Touched>,
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
    /// Where to begin to judge new locations of these times by these rules.
    pub fn start(&self, rules: &[&Rule], times: &[Timestamp]) -> Start {
        let mut start = Start {
            progresses: Vec::with_capacity(rules.len()),
            late: Vec::with_capacity(rules.len()),
            read_after: None,
            forget_from: None,
            last_checkpoint: Timestamp::MIN,
            since_checkpoint: 0,
            place: None,
            dropped: Vec::new(),
            too_old: 0,
        };
        for rule in rules {
            let earliest = times.iter().copied().filter(|time| *time >= rule.since).min();
            let (progress, late) = self.start_of(rule, earliest, &mut start.too_old);
            if late {
                start.read_after = Some(start.read_after.map_or(progress.at, |at| at.min(progress.at)));
                start.forget_from = start.forget_from.min(earliest).or(earliest);
            }
            start.progresses.push(progress);
            start.late.push(late);
        }
        let holds = |snapshot: &&Snapshot| start.forget_from.is_none_or(|from| snapshot.at < from);
        let last = self.checkpoints.iter().rev().find(holds);
        start.last_checkpoint = last.map_or(Timestamp::MIN, |last| last.at);
        let base = if start.read_after.is_some() { last } else { self.current.as_ref() };
        start.place = base.and_then(|base| base.place);
        start.since_checkpoint = base.map_or(0, |base| base.since_checkpoint);
        let known = self.current.iter().flat_map(|current| &current.progresses);
        let gone = known.filter(|known| !rules.iter().any(|rule| rule.id == known.rule));
        start.dropped = gone.map(|gone| gone.rule).collect();
        start
    }

    /// Where to begin with one rule, and whether that is before where it was.
    fn start_of(&self, rule: &Rule, earliest: Option<Timestamp>, too_old: &mut usize) -> (Progress, bool) {
        let Some(earliest) = earliest else {
            let known = self.current.as_ref().and_then(|current| current.progress(rule));
            return (known.cloned().unwrap_or_else(|| Progress::blank(rule, rule.since)), false);
        };
        let Some(known) = self.current.as_ref().and_then(|current| current.progress(rule)) else {
            return (Progress::blank(rule, earliest), false);
        };
        if known.at < earliest {
            return (known.clone(), false);
        }
        let earlier = self.checkpoints.iter().rev().filter_map(|checkpoint| checkpoint.progress(rule));
        if let Some(earlier) = earlier.into_iter().find(|earlier| earlier.at < earliest) {
            return (earlier.clone(), true);
        }
        let since = known.since.min(earliest);
        if known.at.as_millis() - since.as_millis() > LOOK_BACK_MS {
            *too_old += 1;
            return (known.clone(), false);
        }
        (Progress::blank(rule, since), true)
    }
}

impl Snapshot {
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
