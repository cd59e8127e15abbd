//! Rules, and the times at which they apply.

pub mod rule;
pub mod schedule;
