//! Conditions about trips. They are evaluated on the trips of a timeline, not on locations, so their results do not depend
//! on the order of arrival either.

use serde::{Deserialize, Serialize};

use super::{Change, Condition, Episode, Occurrence, Rule, RuleSettings, reconcile};
use crate::time::Timestamp;
use crate::timeline::{SegmentKind, StoredSegment};
use crate::zone::Zone;

/// A condition about trips. All conditions of a rule must be about trips if one is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum TripCondition {
    /// A finished trip is longer than this.
    Distance {
        /// The limit in metres.
        metres: u32,
    },
    /// A trip lasts longer than this. It is true while the trip is still going on.
    Duration {
        /// The limit in seconds.
        seconds: u32,
    },
    /// A trip is at least in part outside of the rule's schedule, which has the working hours.
    OutsideHours,
    /// A user gave the trip this purpose.
    Purpose {
        /// The purpose, compared without regard to letter case.
        purpose: String,
    },
    /// It is not known who drove on a finished trip.
    NoDriver,
    /// The device was driven for longer than this without a break. Must be the only condition of its rule.
    Driving {
        /// The limit in seconds, over all trips since the last break.
        seconds: u32,
        /// The least time between two trips that counts as a break, in seconds.
        break_s: u32,
    },
    /// The device made no trip for this long. Must be the only condition of its rule.
    NoTrip {
        /// The limit in seconds.
        seconds: u32,
    },
}

/// What the conditions about trips depend on besides the trips.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TripContext {
    /// The current time.
    pub now: Timestamp,
    /// When the device was created: the time before does not count as time without a trip.
    pub created: Timestamp,
    /// Times without a trip that ended before this instant are not compared, because their occurrences may have been
    /// deleted.
    pub settled: Timestamp,
}

/// What rules read of a trip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Trip {
    /// The beginning.
    pub from: Timestamp,
    /// The end, as far as it is known.
    pub to: Timestamp,
    /// Whether new locations may extend it.
    pub is_open: bool,
    /// Metres.
    pub distance_m: u64,
    /// What a user said it was for.
    pub purpose: Option<String>,
    /// Whether it is known who drove.
    pub has_driver: bool,
    /// Where it began and ended.
    pub ends: (crate::timeline::Position, crate::timeline::Position),
}

/// The longest driving time that is looked for before a trip, in milliseconds: two days.
pub const DRIVING_CONTEXT_MS: i64 = 2 * 86_400_000;

impl Trip {
    /// What rules read of a segment; `None` for stops and gaps.
    pub fn of(stored: &StoredSegment) -> Option<Self> {
        let segment = &stored.segment;
        (segment.kind == SegmentKind::Trip).then(|| Self {
            from: segment.from,
            to: segment.to,
            is_open: stored.is_open,
            distance_m: segment.distance_m,
            purpose: stored.labels.purpose.clone(),
            has_driver: stored.driver.is_some(),
            ends: (segment.start, segment.end),
        })
    }

    fn end(&self) -> Option<Timestamp> {
        (!self.is_open).then_some(self.to)
    }
}

impl TripCondition {
    /// When the condition becomes true for a trip; `None` if it is not.
    fn met(&self, trip: &Trip, settings: &RuleSettings) -> Option<Timestamp> {
        match self {
            Self::Distance { metres } => trip.end().filter(|_| trip.distance_m > u64::from(*metres)),
            Self::Duration { seconds } => {
                Some(trip.from.plus_seconds(i64::from(*seconds))).filter(|at| *at < trip.to)
            }
            Self::OutsideHours => {
                let hours = settings.schedule.as_ref()?;
                hours.first_outside(trip.from, trip.to, const { &Zone::utc() })
            }
            Self::Purpose { purpose } => {
                let is_it = |given: &String| given.to_lowercase() == purpose.to_lowercase();
                trip.purpose.as_ref().is_some_and(is_it).then_some(trip.from)
            }
            Self::NoDriver => trip.end().filter(|_| !trip.has_driver),
            Self::Driving { .. } | Self::NoTrip { .. } => None,
        }
    }
}

impl RuleSettings {
    /// Its conditions about trips; empty if it is evaluated on locations.
    pub fn trip_conditions(&self) -> Vec<&TripCondition> {
        let trips = self.conditions.iter().filter_map(|condition| match condition {
            Condition::Trip(trip) => Some(trip),
            _ => None,
        });
        trips.collect()
    }

    /// Whether it is a rule about trips, which is not evaluated on locations.
    pub fn watches_trips(&self) -> bool {
        self.conditions.iter().any(|condition| matches!(condition, Condition::Trip(_)))
    }

    /// Whether it is a rule about driving time, whose episodes can be longer than a trip.
    pub fn watches_driving(&self) -> bool {
        self.driving().is_some()
    }

    /// The time without a trip that makes it true, in milliseconds, if it is a rule about that.
    pub fn no_trip_ms(&self) -> Option<i64> {
        self.trip_conditions().into_iter().find_map(|condition| match condition {
            TripCondition::NoTrip { seconds } => Some(i64::from(*seconds) * 1_000),
            _ => None,
        })
    }

    /// The times without a trip that are longer than the limit of the rule, on these trips of one device, which are sorted by
    /// time. The first begins at `since` or with the end of a trip after it, and the last goes on `until` now.
    pub fn absences(&self, trips: &[Trip], since: Timestamp, until: Timestamp) -> Vec<Episode> {
        let Some(limit_ms) = self.no_trip_ms() else { return Vec::new() };
        let ends = trips.iter().map(|trip| (trip.to, Some(trip.ends.1)));
        let begins = std::iter::once((Timestamp::MIN, None)).chain(ends);
        let next = trips.iter().map(|trip| Some(trip.from)).chain([None]);
        let absence = |((last, position), next): ((Timestamp, _), Option<Timestamp>)| {
            let begin = last.max(since);
            let met = begin.plus_millis(limit_ms);
            let is_met = next.map_or(met <= until, |next| met < next);
            (is_met && self.holds_at(met)).then_some(Episode { begin, met, end: next, position })
        };
        begins.zip(next).filter_map(absence).collect()
    }

    /// Limit and least break, in milliseconds.
    fn driving(&self) -> Option<(i64, i64)> {
        self.trip_conditions().into_iter().find_map(|condition| match condition {
            TripCondition::Driving { seconds, break_s } => {
                Some((i64::from(*seconds) * 1_000, i64::from(*break_s) * 1_000))
            }
            _ => None,
        })
    }

    /// The episodes in which the rule is true on these trips of one device, which are sorted by time. An episode is a trip,
    /// or for driving time all trips from one break to the next.
    pub fn trip_episodes(&self, trips: &[Trip]) -> Vec<Episode> {
        match self.driving() {
            Some((limit_ms, break_ms)) => drives(trips, break_ms)
                .into_iter()
                .filter_map(|drive| too_long(drive, limit_ms))
                .filter(|episode| self.holds_at(episode.met))
                .collect(),
            None => trips.iter().filter_map(|trip| self.episode_of(trip)).collect(),
        }
    }

    fn episode_of(&self, trip: &Trip) -> Option<Episode> {
        let conditions = self.trip_conditions();
        let mets: Option<Vec<Timestamp>> =
            conditions.iter().map(|condition| condition.met(trip, self)).collect();
        let met = mets?.into_iter().max()?;
        // The schedule of a rule about working hours has the hours in which it is not true.
        if !conditions.contains(&&TripCondition::OutsideHours) && !self.holds_at(met) {
            return None;
        }
        let position = match met {
            at if at == trip.from => Some(trip.ends.0),
            at if at == trip.to => Some(trip.ends.1),
            _ => None,
        };
        Some(Episode { begin: trip.from, met, end: trip.end(), position })
    }
}

impl Rule {
    /// The instant from which the episodes of a rule have to be compared if trips have changed from `from` on. `trips` are
    /// those since [`DRIVING_CONTEXT_MS`] before it. For driving time, it is the beginning of the trips without a break that
    /// the change can belong to; for a time without a trip, the end of the trip before the change.
    pub fn trip_window(&self, trips: &[Trip], from: Timestamp) -> Timestamp {
        if self.settings.no_trip_ms().is_some() {
            let before = trips.iter().map(|trip| trip.to).filter(|to| *to <= from).max();
            return before.unwrap_or(Timestamp::MIN);
        }
        let Some((_, break_ms)) = self.settings.driving() else { return from };
        let reaches = |drive: &&[Trip]| drive.last().is_some_and(|last| last.to.plus_millis(break_ms) > from);
        let drive = drives(trips, break_ms).into_iter().find(reaches);
        drive.and_then(|drive| drive.first()).map_or(from, |first| first.from.min(from))
    }

    /// Compares the episodes on these trips with the occurrences of the rule, after trips have changed from `from` on. What was
    /// true before the rule was made does not count.
    ///
    /// Occurrences that ended before the window do not change, because all trips that they could depend on are the same.
    pub fn reconcile_trips<K: Copy>(
        &self,
        known: &[Occurrence<K>],
        trips: &[Trip],
        from: Timestamp,
        at: &TripContext,
    ) -> Vec<Change<K>> {
        let mut window = self.trip_window(trips, from);
        let is_absence = self.settings.no_trip_ms().is_some();
        if is_absence {
            window = window.max(at.settled);
        }
        let is_later = |end: Option<Timestamp>| end.is_none_or(|end| end > window);
        let known: Vec<Occurrence<K>> = known.iter().filter(|one| is_later(one.end)).copied().collect();
        let mut episodes = if is_absence {
            self.absences_known(&known, trips, at)
        } else {
            self.settings.trip_episodes(trips)
        };
        episodes.retain(|one| one.met >= self.since && is_later(one.end));
        reconcile(&known, &episodes)
    }
}

impl Rule {
    /// The times without a trip. One that was announced already goes on if the clock was set back.
    fn absences_known<K: Copy>(
        &self,
        known: &[Occurrence<K>],
        trips: &[Trip],
        at: &TripContext,
    ) -> Vec<Episode> {
        let since = at.created.max(self.since);
        let present = trips.last().map_or(since, |last| last.to.max(since));
        let is_announced = known.iter().any(|one| one.end.is_none() && one.begin == present);
        let until = if is_announced { Timestamp::MAX } else { at.now };
        self.settings.absences(trips, since, until)
    }

    /// When a rule about the time without a trip becomes true for a device that makes none from now on; `None` for other
    /// rules, and if its schedule excludes that instant.
    pub fn no_trip_due(&self, last_trip: Option<Timestamp>, created: Timestamp) -> Option<Timestamp> {
        let limit_ms = self.settings.no_trip_ms()?;
        let begin = last_trip.unwrap_or(Timestamp::MIN).max(created).max(self.since);
        Some(begin.plus_millis(limit_ms)).filter(|met| self.settings.holds_at(*met))
    }
}

/// Groups trips by the breaks between them.
fn drives(trips: &[Trip], break_ms: i64) -> Vec<&[Trip]> {
    let is_together = |one: &Trip, next: &Trip| next.from.as_millis() - one.to.as_millis() < break_ms;
    trips.chunk_by(is_together).collect()
}

/// The episode of trips without a break, if they last longer than the limit together.
fn too_long(drive: &[Trip], limit_ms: i64) -> Option<Episode> {
    let mut left_ms = limit_ms;
    let met = drive.iter().find_map(|trip| {
        let length_ms = trip.to.as_millis() - trip.from.as_millis();
        let met = trip.from.plus_millis(left_ms);
        left_ms -= length_ms;
        (left_ms < 0).then_some(met)
    })?;
    let (first, last) = (drive.first()?, drive.last()?);
    Some(Episode { begin: first.from, met, end: last.end(), position: None })
}
