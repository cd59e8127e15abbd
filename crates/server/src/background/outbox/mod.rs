//! Sends what is in the outbox: what is due is written out, reserved, sent and settled.

mod hold;
mod outlet;
mod worker;

pub use outlet::{Outlet, Outlets};
pub use worker::Worker;
