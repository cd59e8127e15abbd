//! Payloads of satellite messages: bytes of a device in a device-specific format.

mod record;
mod select;
pub mod smartone;
mod t622;

pub use select::{PAYLOAD_KINDS, Payload, PayloadSettings, decode_payload};
pub use smartone::{FLAGS as SMARTONE_FLAGS, SUBTYPE as SMARTONE};
pub(crate) use t622::is_format;
