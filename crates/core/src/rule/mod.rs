//! Rules: what a device must do for an alert to be raised, judged over its history in the order of fix times.
//!
//! What a rule says of a device is a function of the device's history alone: of the locations that are not suspect, by
//! time, those of one time by what they say. Locations may therefore arrive in any order; the episodes are the same at
//! the end. [`Progress`] goes on by one location, [`Trail`] goes back when one arrives late, and [`reconcile`] tells
//! what that means for what was raised already.

mod carried;
mod condition;
mod episode;
mod fences;
mod judge;
mod memory;
mod packed;
mod progress;
mod quantity;
mod set;
mod settings;
#[cfg(test)]
mod tests;
mod trail;

pub use carried::carried_alerts;
pub use condition::{Condition, Crossing, FenceChange, Jolt, Level, Silence, Tank};
pub use episode::{Change, Episode, Occurrence, reconcile};
pub use fences::{Inside, RuleFences};
pub use judge::Judge;
pub use memory::Memory;
pub use progress::{Met, Progress};
pub use quantity::Quantity;
pub use set::RuleSet;
pub use settings::{Rule, RuleSettings, RuleTarget};
pub use trail::{Checkpoint, Judgement, LOOK_BACK_MS, Snapshot, Start, Touched, Trail, thin};
