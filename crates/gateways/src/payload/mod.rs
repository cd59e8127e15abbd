//! Payloads of satellite messages: what a modem's user put into them.

mod record;
mod select;
pub mod smartone;
mod t622;

pub use select::{Payload, PayloadSettings, decode_payload};
