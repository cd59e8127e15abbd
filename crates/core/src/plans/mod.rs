//! Plans of voyages, shifts and hikes: who travels, when check-ins are expected, and what happens if one is missed.

mod deadline;
mod ladder;
mod plan;
mod record;
mod settings;
#[cfg(test)]
mod tests;
mod words;

pub use deadline::{Deadline, DeadlineKind};
pub use ladder::{LadderStep, Outcome, PlanAction, RefusedAction};
pub use plan::{CheckIn, CheckInBy, Missed, Plan, PlanState, Progress};
pub use record::{NewPlanLink, OpenPlan, PlanEvent, PlanEventKind, PlanLink, PlanNudge};
pub use settings::{
    CheckInRules, CheckInSources, ClockTime, Craft, Grace, ParseClockTimeError, PlanFilter, PlanKind,
    PlanSettings, PlanWords, Traveller, Waypoint,
};
pub use words::{Order, read_order};
