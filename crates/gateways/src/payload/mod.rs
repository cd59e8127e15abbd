//! Payloads of satellite messages: the bytes that a device put into them, in a format of its own.

mod record;
mod select;
pub mod smartone;
mod t622;

pub use select::{PAYLOAD_KINDS, Payload, PayloadSettings, decode_payload};
pub(crate) use t622::is_format;
