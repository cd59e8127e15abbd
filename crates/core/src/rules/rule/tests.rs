//! Tests of rules: a table for each condition, and the same episodes however locations arrive.

mod conditions;
mod fences;
mod order;
mod start;
mod support;
mod trips;
