//! Commands to `CalAmp` units: messages that the user writes.

use crate::command::{Command, EncodeError, Target};
use crate::notation::hex::parse_hex;

/// Supports only `custom`, whose `data` is sent unchanged.
pub(super) fn encode(command: &Command, _target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    match command.kind.as_str() {
        "custom" => parse_hex(command.text("data")?)
            .filter(|bytes| !bytes.is_empty())
            .ok_or(EncodeError::Invalid("a custom command for this model must be hexadecimal digits")),
        _ => Err(EncodeError::Unsupported),
    }
}
