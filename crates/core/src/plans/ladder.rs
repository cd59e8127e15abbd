//! How a plan goes on: by actions of people, by check-ins, and by time. Everything here is computed from the stored plan and
//! an instant, so that a step is taken once, whichever node takes it: with the same transaction that stores the plan.

use serde::{Deserialize, Serialize};

use super::{CheckIn, CheckInBy, Deadline, DeadlineKind, Missed, Plan, PlanState, Progress};
use crate::time::Timestamp;
use crate::zone::Zone;

const MINUTE_MS: i64 = 60_000;
/// How often a plan with a missed check-in is examined, so that no late location is overlooked.
const OVERDUE_MS: i64 = 60_000;

/// A step after a missed check-in, in ascending order of urgency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum LadderStep {
    /// The traveller is asked.
    Nudge,
    /// The contacts are warned.
    Warning,
    /// The critical alert.
    Alarm,
}

impl LadderStep {
    /// Every step, in the order in which they are taken.
    pub const ALL: [Self; 3] = [Self::Nudge, Self::Warning, Self::Alarm];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Nudge => "nudge",
            Self::Warning => "warning",
            Self::Alarm => "alarm",
        }
    }

    /// The name of the alert that is raised with it.
    pub const fn alert_name(self) -> &'static str {
        match self {
            Self::Nudge => "CheckInDue",
            Self::Warning => "CheckInMissed",
            Self::Alarm => "PlanOverdue",
        }
    }
}

/// What a person asks of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PlanAction {
    /// To start it, again after it was ended or cancelled.
    Start,
    /// To record a check-in.
    CheckIn,
    /// To expect no check-ins for these minutes, or until it is resumed.
    Pause(Option<u32>),
    /// To expect check-ins again.
    Resume,
    /// To move what is expected next by these minutes.
    Extend(u32),
    /// To end it: the travellers have arrived.
    End,
    /// To give it up.
    Cancel,
}

/// Why an action is refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RefusedAction {
    /// The state does not permit it.
    #[error("the plan is {}", .0.name())]
    State(PlanState),
    /// Templates are only copied.
    #[error("the plan is a template")]
    Template,
    /// The plan cannot start after it was to arrive.
    #[error("the expected arrival is in the past")]
    ArrivalPassed,
    /// As many plans of one of its devices as permitted run already, or start by themselves.
    #[error("{0} plans of a device run already")]
    TooManyOfDevice(u32),
}

/// What happened to a plan, in order. The store records each, and raises and ends the alerts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It was started, with the note of whoever did.
    Started(Option<String>),
    /// The traveller checked in.
    CheckedIn(CheckIn),
    /// A check-in is missed; the first step is taken.
    Missed,
    /// The contacts are to be warned.
    Warning,
    /// The critical alert is to be raised.
    Alarm,
    /// The check-in is no longer missed. `is_withdrawn`: it was never missed, because data from before arrived late.
    Resolved {
        /// What had been missed.
        missed: Missed,
        /// Whether data from before the miss ended it.
        is_withdrawn: bool,
    },
    /// It was paused, for these minutes.
    Paused(Option<u32>),
    /// It was resumed.
    Resumed,
    /// It was extended by these minutes.
    Extended(u32),
    /// It was ended, by this text, location or button.
    Ended(CheckIn),
    /// It was given up, by this text or button.
    Cancelled(CheckIn),
}

fn minutes(count: u32) -> i64 {
    i64::from(count) * MINUTE_MS
}

impl Plan {
    /// When a deadline counts as missed.
    pub fn missed_from(&self, deadline: Deadline) -> Timestamp {
        let delay_ms = i64::from(self.progress.usual_delay_s) * 1_000;
        deadline.at.plus_millis(minutes(self.settings.grace.minutes) + delay_ms)
    }

    /// The next check-in that is expected; `None` unless the plan is active.
    pub fn next_deadline(&self, zone: &Zone) -> Option<Deadline> {
        let is_active = self.progress.state == PlanState::Active;
        is_active.then(|| self.settings.next_deadline(&self.progress, self.zone(zone))).flatten()
    }

    /// The zone of its times of day.
    pub fn zone<'z>(&'z self, of_account: &'z Zone) -> &'z Zone {
        self.settings.time_zone.as_ref().unwrap_or(of_account)
    }

    /// When the next step of a missed check-in is taken.
    pub fn next_step(&self) -> Option<(LadderStep, Timestamp)> {
        let missed = self.progress.missed.as_ref()?;
        let grace = &self.settings.grace;
        // A step waits its whole delay after the one before, also if that was late because no node ran.
        let taken = self.progress.step_at.unwrap_or(missed.since);
        let (step, from_miss, from_taken) = match missed.step {
            LadderStep::Nudge => (LadderStep::Warning, grace.warn_minutes, grace.warn_minutes),
            LadderStep::Warning => (
                LadderStep::Alarm,
                grace.alarm_minutes,
                grace.alarm_minutes.saturating_sub(grace.warn_minutes),
            ),
            LadderStep::Alarm => return None,
        };
        let at = missed.since.plus_millis(minutes(from_miss)).max(taken.plus_millis(minutes(from_taken)));
        Some((step, at))
    }

    /// When the plan has to be examined next; `None` if only an action can change it.
    pub fn next_due(&self, now: Timestamp, zone: &Zone) -> Option<Timestamp> {
        match self.progress.state {
            PlanState::Draft => {
                self.settings.start.filter(|_| self.settings.starts_itself && !self.settings.is_template)
            }
            PlanState::Paused => self.progress.paused_until,
            PlanState::Active => self.next_deadline(zone).map(|deadline| self.missed_from(deadline)),
            PlanState::Overdue => {
                let look = now.plus_millis(OVERDUE_MS);
                Some(self.next_step().map_or(look, |(_, at)| at.min(look)))
            }
            PlanState::Ended | PlanState::Cancelled => None,
        }
    }

    /// What time changes; called until it returns `None`.
    pub fn tick(&mut self, now: Timestamp, zone: &Zone) -> Option<Outcome> {
        match self.progress.state {
            PlanState::Draft => {
                let start = self.next_due(now, zone).filter(|start| *start <= now)?;
                // What was to happen while no node ran counts from the planned start.
                self.begin(start.max(self.last_modified));
                Some(Outcome::Started(None))
            }
            PlanState::Paused => {
                self.progress.paused_until.filter(|until| *until <= now)?;
                self.resume(now);
                Some(Outcome::Resumed)
            }
            PlanState::Active => {
                let deadline = self.next_deadline(zone)?;
                let since = self.missed_from(deadline);
                if since > now {
                    return None;
                }
                self.progress.state = PlanState::Overdue;
                self.progress.step_at = Some(now);
                self.progress.misses = self.progress.misses.saturating_add(1);
                let step = LadderStep::Nudge;
                self.progress.missed = Some(Missed { deadline, since, step, alerts: Vec::new() });
                Some(Outcome::Missed)
            }
            PlanState::Overdue => {
                let (step, _) = self.next_step().filter(|(_, at)| *at <= now)?;
                self.progress.step_at = Some(now);
                if let Some(missed) = &mut self.progress.missed {
                    missed.step = step;
                }
                Some(if step == LadderStep::Alarm { Outcome::Alarm } else { Outcome::Warning })
            }
            PlanState::Ended | PlanState::Cancelled => None,
        }
    }

    fn begin(&mut self, at: Timestamp) {
        let start =
            CheckIn { at, by: CheckInBy::Start, device: None, position: None, text: None, waypoint: None };
        self.progress = Progress {
            state: PlanState::Active,
            started: Some(at),
            base: Some(at),
            last: Some(start),
            misses: self.progress.misses,
            usual_delay_s: self.progress.usual_delay_s,
            ..Progress::default()
        };
    }

    fn resume(&mut self, now: Timestamp) {
        self.progress.state = PlanState::Active;
        self.progress.paused_until = None;
        self.progress.base = Some(now);
    }

    /// Records a check-in, unless it is older than the last one or the plan is not running.
    pub fn check_in(&mut self, mut check_in: CheckIn, now: Timestamp, zone: &Zone) -> Vec<Outcome> {
        // A device's clock may be ahead.
        check_in.at = check_in.at.min(now);
        let is_new = self.progress.base.is_none_or(|base| check_in.at > base);
        if !self.progress.state.is_running() || !is_new {
            return Vec::new();
        }
        if let Some(waypoint) = check_in.waypoint
            && !self.progress.reached.contains(&waypoint)
        {
            self.progress.reached.push(waypoint);
            self.progress.reached.sort_unstable();
        }
        self.progress.base = Some(check_in.at);
        self.progress.last = Some(check_in.clone());
        let at = check_in.at;
        let mut outcomes = vec![Outcome::CheckedIn(check_in)];
        outcomes.extend(self.settle(at, now, zone));
        outcomes
    }

    /// Ends a missed check-in that is no longer missed, because of a check-in at this instant or of new settings.
    pub fn settle(&mut self, at: Timestamp, now: Timestamp, zone: &Zone) -> Option<Outcome> {
        let missed = self.progress.missed.as_ref()?;
        let is_still_missed = if missed.deadline.is_met_by_check_in() {
            let bare = super::PlanSettings { expected_arrival: None, ..self.settings.clone() };
            bare.next_deadline(&self.progress, self.zone(zone))
        } else {
            self.settings.expected_arrival.map(|at| Deadline {
                at,
                kind: DeadlineKind::Arrival,
                waypoint: None,
            })
        };
        if is_still_missed.is_some_and(|deadline| self.missed_from(deadline) <= now) {
            return None;
        }
        let is_withdrawn = missed.deadline.is_met_by_check_in() && at <= missed.since;
        self.resolve(is_withdrawn)
    }

    fn resolve(&mut self, is_withdrawn: bool) -> Option<Outcome> {
        let missed = self.progress.missed.take()?;
        self.progress.state = PlanState::Active;
        self.progress.step_at = None;
        Some(Outcome::Resolved { missed, is_withdrawn })
    }

    /// Does what a person asks. A check-in that a button records is passed as `check_in`.
    pub fn act(
        &mut self,
        action: PlanAction,
        check_in: CheckIn,
        now: Timestamp,
        zone: &Zone,
    ) -> Result<Vec<Outcome>, RefusedAction> {
        let state = self.progress.state;
        let is_permitted = match action {
            PlanAction::Start => !state.is_running(),
            PlanAction::CheckIn | PlanAction::Extend(_) | PlanAction::End => state.is_running(),
            PlanAction::Pause(_) => matches!(state, PlanState::Active | PlanState::Overdue),
            PlanAction::Resume => state == PlanState::Paused,
            PlanAction::Cancel => state.is_running() || state == PlanState::Draft,
        };
        if action == PlanAction::Start && self.settings.is_template {
            return Err(RefusedAction::Template);
        }
        if !is_permitted {
            return Err(RefusedAction::State(state));
        }
        let mut outcomes = Vec::new();
        match action {
            PlanAction::Start => {
                if self.settings.expected_arrival.is_some_and(|at| at <= now) {
                    return Err(RefusedAction::ArrivalPassed);
                }
                self.begin(now);
                outcomes.push(Outcome::Started(check_in.text));
            }
            PlanAction::CheckIn => outcomes = self.check_in(check_in, now, zone),
            PlanAction::Pause(length) => {
                outcomes.extend(self.resolve(false));
                self.progress.state = PlanState::Paused;
                self.progress.paused_until = length.map(|length| now.plus_millis(minutes(length)));
                outcomes.push(Outcome::Paused(length));
            }
            PlanAction::Resume => {
                self.resume(now);
                self.progress.last = Some(CheckIn { by: CheckInBy::Resume, ..check_in });
                outcomes.push(Outcome::Resumed);
            }
            PlanAction::Extend(by) => {
                self.extend(by, now, zone);
                self.progress.base = self.progress.base.max(Some(now));
                self.progress.last = Some(CheckIn { by: CheckInBy::Extend, ..check_in });
                outcomes.push(Outcome::Extended(by));
                if self.progress.missed.is_some() {
                    outcomes.extend(self.resolve(false));
                }
            }
            PlanAction::End | PlanAction::Cancel => {
                outcomes.extend(self.resolve(false));
                let is_end = action == PlanAction::End;
                self.progress.state = if is_end { PlanState::Ended } else { PlanState::Cancelled };
                self.progress.ended = Some(now);
                self.progress.paused_until = None;
                outcomes.push(if is_end { Outcome::Ended(check_in) } else { Outcome::Cancelled(check_in) });
            }
        }
        Ok(outcomes)
    }

    /// Moves what is expected next: the arrival, waypoints that were not reached, and the next check-in.
    fn extend(&mut self, by: u32, now: Timestamp, zone: &Zone) {
        let later = |at: Timestamp| at.max(now).plus_millis(minutes(by));
        let next =
            self.progress.missed.as_ref().map(|missed| missed.deadline).or_else(|| self.next_deadline(zone));
        let next = next.filter(Deadline::is_met_by_check_in).map_or(now, |deadline| deadline.at);
        self.progress.not_before = self.progress.not_before.max(Some(later(next)));
        self.settings.expected_arrival = self.settings.expected_arrival.map(later);
        let base = self.progress.base.unwrap_or(now);
        for (waypoint, index) in self.settings.waypoints.iter_mut().zip(0_u16..) {
            let is_ahead = |at: &Timestamp| *at > base && !self.progress.reached.contains(&index);
            if let Some(at) = waypoint.time.filter(is_ahead) {
                waypoint.time = Some(at.plus_millis(minutes(by)));
            }
        }
        if let Some(until) = &mut self.progress.paused_until {
            *until = until.plus_millis(minutes(by));
        }
    }
}
