//! Payloads of satellite messages: the bytes that a device put into them, in a format of its own.

mod record;
mod select;
pub mod smartone;
mod t622;

pub use select::{PAYLOAD_KINDS, Payload, PayloadSettings, decode_payload};
pub use smartone::{FLAGS as SMARTONE_FLAGS, SUBTYPE as SMARTONE};
pub(crate) use t622::is_format;
