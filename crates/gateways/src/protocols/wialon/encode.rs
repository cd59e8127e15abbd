//! Commands to units with Wialon IPS: a message to the driver, or any line.

use crate::command::{Command, EncodeError, Target};

pub(super) fn encode(command: &Command, _target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let line = match command.kind.as_str() {
        "message" => format!("#M#{}", command.text("message")?),
        "custom" => command.text("data")?.to_owned(),
        _ => return Err(EncodeError::Unsupported),
    };
    if line.contains(['\r', '\n']) {
        return Err(EncodeError::Invalid("the text must be one line"));
    }
    Ok(format!("{line}\r\n").into_bytes())
}
