//! The outbox: messages are written with their alerts, reserved against limits, sent by workers, and settled.

mod api;
mod audience;
mod count;
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

pub(in crate::sql) use audience::DeviceAudience;
pub(in crate::sql) use escalate::stop as stop_escalations;
pub(in crate::sql) use fill::{Raised, fill};
pub(in crate::sql) use owners::{
    ask_recipients, write_overview, write_password_link, write_push_test, write_report, write_sos,
    write_sos_to_operators, write_tests,
};
#[cfg(feature = "testing")]
pub use reserve::reserve_uncounted;
pub(in crate::sql) use trim::delete_repetitions;
