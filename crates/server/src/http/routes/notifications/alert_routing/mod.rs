//! Alert routing: who is notified, set for a device, a group or the whole account.

mod handler;
pub(in crate::http::routes) mod input;
pub mod view;

pub use handler::*;
