//! Until when the next check-in is expected. Nothing is counted up: a deadline follows from the settings and the last
//! check-in, so that restarts and corrections of the clock do not change it.

use jiff::ToSpan as _;
use serde::{Deserialize, Serialize};

use super::{PlanSettings, Progress};
use crate::time::Timestamp;
use crate::zone::Zone;

const MINUTE_MS: i64 = 60_000;
/// Dates that are searched for the next time of day: a time that a change to summer time skips moves within its date.
const DATES: i32 = 4;

/// Why a check-in is expected.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum DeadlineKind {
    /// The interval since the last check-in.
    Interval,
    /// A time of day.
    Time,
    /// The time of a waypoint.
    Waypoint,
    /// The expected arrival, until which the plan must be ended.
    Arrival,
}

impl DeadlineKind {
    /// Every kind, in the order of the API document.
    pub const ALL: [Self; 4] = [Self::Interval, Self::Time, Self::Waypoint, Self::Arrival];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Interval => "interval",
            Self::Time => "time",
            Self::Waypoint => "waypoint",
            Self::Arrival => "arrival",
        }
    }
}

/// Until when a check-in is expected, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Deadline {
    /// The instant, without grace.
    pub at: Timestamp,
    /// Why.
    pub kind: DeadlineKind,
    /// The waypoint, by index.
    pub waypoint: Option<u16>,
}

impl Deadline {
    /// Whether a check-in meets it. The expected arrival is met only by ending or extending the plan.
    pub const fn is_met_by_check_in(&self) -> bool {
        !matches!(self.kind, DeadlineKind::Arrival)
    }
}

impl PlanSettings {
    /// The next deadline of a running plan; `None` if no check-in is expected.
    pub fn next_deadline(&self, progress: &Progress, zone: &Zone) -> Option<Deadline> {
        let base = progress.base?;
        let from = base.plus_millis(i64::from(self.grace.early_minutes) * MINUTE_MS);
        let every = self.check_ins.every_minutes.map(|minutes| Deadline {
            at: base.plus_millis(i64::from(minutes) * MINUTE_MS),
            kind: DeadlineKind::Interval,
            waypoint: None,
        });
        let time =
            self.next_time(from, zone).map(|at| Deadline { at, kind: DeadlineKind::Time, waypoint: None });
        let waypoint = self.waypoints.iter().zip(0_u16..).find_map(|(waypoint, index)| {
            let at = waypoint.time.filter(|at| *at > from && !progress.reached.contains(&index))?;
            Some(Deadline { at, kind: DeadlineKind::Waypoint, waypoint: Some(index) })
        });
        let by_check_in = [every, time, waypoint].into_iter().flatten().min().map(|deadline| Deadline {
            at: progress.not_before.map_or(deadline.at, |earliest| deadline.at.max(earliest)),
            ..deadline
        });
        let arrival =
            self.expected_arrival.map(|at| Deadline { at, kind: DeadlineKind::Arrival, waypoint: None });
        by_check_in.into_iter().chain(arrival).min()
    }

    /// The first time of day after an instant. A time that the clock skips is as much later, one that it repeats counts
    /// once, the first time.
    fn next_time(&self, from: Timestamp, zone: &Zone) -> Option<Timestamp> {
        let times = &self.check_ins.times;
        if times.is_empty() {
            return None;
        }
        let zone = zone.as_jiff();
        let mut date = from.to_jiff().to_zoned(zone.clone()).date();
        for _ in 0..DATES {
            let at = |time: &super::ClockTime| {
                let zoned = date.to_datetime(time.to_civil()).to_zoned(zone.clone()).ok()?;
                Some(Timestamp::from_jiff(zoned.timestamp()))
            };
            if let Some(found) = times.iter().filter_map(at).filter(|at| *at > from).min() {
                return Some(found);
            }
            date = date.checked_add(1.day()).ok()?;
        }
        None
    }
}
