//! The rule engine: reads the location log and evaluates alerts that locations carry, rules, and whether devices report
//! in time.
//!
//! Each round reads a part of an account's log after the commit that stored it, evaluates it, and stores the results in
//! one transaction that also moves the cursor, so that a crash neither loses nor repeats anything. A lease keeps nodes
//! from doing the same work twice; correctness does not depend on it, because the transaction checks the cursor.
//!
//! A round is a slice of about 100 ms. Accounts take turns, so that a large one does not delay the others.

mod account_queue;
mod catch_up;
mod engine;
mod evaluate_device;
mod evaluation;
mod round;
mod rule_sets;
mod slice_size;
mod state_cache;
mod status;
#[cfg(test)]
mod testing;

pub use engine::RuleEngine;
