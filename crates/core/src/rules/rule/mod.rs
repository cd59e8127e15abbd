//! Rules: conditions on reports of devices that raise alerts, evaluated over the history in order of fix time.
//!
//! The result of a rule is a function of the device's history alone: of the locations that are not suspect, sorted by
//! fix time and then by content. So locations may arrive in any order and the episodes are the same in the end.
//! [`Progress`] advances by one location, [`Trail`] goes back when a location arrives late, and [`reconcile`] finds
//! what that changes about alerts raised before.

mod carried;
mod condition;
mod condition_state;
mod episode;
mod evaluator;
mod fences;
mod progress;
mod quantity;
mod set;
mod settings;
mod snapshot_serde;
#[cfg(test)]
mod tests;
mod trail;
mod trip;

pub use carried::carried_alerts;
pub use condition::{Condition, Crossing, FenceChange, HarshManoeuvre, Level, Silence, Tank};
pub use condition_state::ConditionState;
pub use episode::{Change, Episode, Occurrence, reconcile};
pub use evaluator::Evaluator;
pub use fences::{Inside, RuleFences};
pub use progress::{MetAt, Progress};
pub use quantity::Quantity;
pub use set::RuleSet;
pub use settings::{Rule, RuleSettings, RuleTarget};
pub use trail::{
    Checkpoint, Evaluation, LOOK_BACK_MS, RuleEpisodes, Snapshot, Start, Trail, prunable_checkpoints,
};
pub use trip::{DRIVING_CONTEXT_MS, Trip, TripCondition, TripContext};
