//! Frames to GT06 devices.

use crate::command::{Command, EncodeError, Target};
use crate::notation::checksum::crc16_x25;

/// A frame with a length of one byte.
pub(super) fn short_frame(kind: u8, content: &[u8], serial: u16) -> Vec<u8> {
    let mut frame = Vec::with_capacity(content.len() + 10);
    frame.extend_from_slice(&[0x78, 0x78, u8::try_from(content.len() + 5).unwrap_or(u8::MAX), kind]);
    finish(frame, content, serial)
}

/// A frame with a length of two bytes.
pub(super) fn long_frame(kind: u8, content: &[u8], serial: u16) -> Vec<u8> {
    let mut frame = Vec::with_capacity(content.len() + 11);
    frame.extend_from_slice(&[0x79, 0x79]);
    frame.extend_from_slice(&u16::try_from(content.len() + 5).unwrap_or(u16::MAX).to_be_bytes());
    frame.push(kind);
    finish(frame, content, serial)
}

fn finish(mut frame: Vec<u8>, content: &[u8], serial: u16) -> Vec<u8> {
    frame.extend_from_slice(content);
    frame.extend_from_slice(&serial.to_be_bytes());
    let crc = crc16_x25(frame.get(2..).unwrap_or_default());
    frame.extend_from_slice(&crc.to_be_bytes());
    frame.extend_from_slice(b"\r\n");
    frame
}

/// Writes a command, which GT06 carries as text.
pub(super) fn encode(command: &Command, target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    // Units of some makers use another command for the relay.
    let alternative = target.options.flag("alternative");
    let text = match command.kind.as_str() {
        "engineStop" if alternative => "DYD#",
        "engineResume" if alternative => "HFYD#",
        "engineStop" => "Relay,1#",
        "engineResume" => "Relay,0#",
        "positionSingle" => "WHERE#",
        "rebootDevice" => "RESET#",
        "getVersion" => "VERSION#",
        "positionPeriodic" => {
            return text_frame(&format!("TIMER,{}#", command.integer("frequency")?), target);
        }
        "custom" => command.text("data")?,
        _ => return Err(EncodeError::Unsupported),
    };
    text_frame(text, target)
}

/// A command as text: its length, the server's flag, the text, and the language if the unit requires it.
fn text_frame(text: &str, target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let length = u8::try_from(text.len() + 4)
        .ok()
        .filter(|length| *length <= 240)
        .ok_or(EncodeError::Invalid("the text must have at most 236 bytes"))?;
    let mut content = vec![length, 0, 0, 0, 0];
    content.extend_from_slice(text.as_bytes());
    if target.options.flag("language") {
        content.extend_from_slice(&[0, 2]);
    }
    Ok(short_frame(0x80, &content, 0))
}
