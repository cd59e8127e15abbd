//! Several nodes on one PostgreSQL database: what they store together equals what one alone would have stored.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod beside;
mod deleted;
mod frozen;
mod held;
mod idle;
mod licensed;
mod naive;
mod packing;
mod plan;
mod renamed;
mod same_batch;
mod support;
mod together;
