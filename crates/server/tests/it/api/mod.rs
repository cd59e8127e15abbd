//! Tests of every operation: the contract, the wire, budgets and examples.

pub(crate) mod budget;
mod compatible;
mod contract;
mod examples;
mod requests;
mod wire;
mod wording;
