//! The outbox: messages are written with their alerts, reserved against limits, sent by workers, and settled.

mod api;
mod counter;
mod due;
mod email;
mod fill;
mod owners;
mod record;
mod reserve;
mod settle;
mod trim;

pub(super) use fill::{Audience, Raised, fill};
pub(super) use owners::{ask_recipients, write_overview};
#[cfg(feature = "testing")]
pub use reserve::reserve_uncounted;
pub(super) use trim::delete_repetitions;
