//! The outbox: messages are written with their alerts, reserved against limits, sent by workers, and settled.

mod api;
mod audience;
mod counter;
mod due;
mod email;
mod escalate;
mod fill;
mod owners;
mod record;
mod reserve;
mod settle;
mod trim;

pub(super) use audience::DeviceAudience;
pub(super) use escalate::stop as stop_escalations;
pub(super) use fill::{Raised, fill};
pub(super) use owners::{
    ask_recipients, write_overview, write_password_link, write_sos, write_sos_to_operators, write_tests,
};
#[cfg(feature = "testing")]
pub use reserve::reserve_uncounted;
pub(super) use trim::delete_repetitions;
