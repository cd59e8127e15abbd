//! Commands to Teltonika devices, codec 12.

use crate::command::{Command, EncodeError, Target};
use crate::notation::checksum::crc16_arc;
use crate::notation::hex::parse_hex;

/// A frame of codec 12 with one command.
pub(super) fn command_frame(kind: u8, content: &[u8]) -> Vec<u8> {
    let mut data = vec![0x0c, 1, kind];
    data.extend_from_slice(&u32::try_from(content.len()).unwrap_or(u32::MAX).to_be_bytes());
    data.extend_from_slice(content);
    data.push(1);
    let mut frame = vec![0; 4];
    frame.extend_from_slice(&u32::try_from(data.len()).unwrap_or(u32::MAX).to_be_bytes());
    frame.extend_from_slice(&data);
    frame.extend_from_slice(&u32::from(crc16_arc(&data)).to_be_bytes());
    frame
}

/// Encodes a command, which is text, or bytes if its text is hexadecimal digits.
pub(super) fn encode(command: &Command, _target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let text = match command.kind.as_str() {
        "engineStop" => "setdigout 1".to_owned(),
        "engineResume" => "setdigout 0".to_owned(),
        "positionSingle" => "getgps".to_owned(),
        "rebootDevice" => "cpureset".to_owned(),
        "getVersion" => "getver".to_owned(),
        "getDeviceStatus" => "getstatus".to_owned(),
        "outputControl" => output_control(command.integer("index")?, command.integer("data")? != 0)?,
        "custom" => command.text("data")?.to_owned(),
        _ => return Err(EncodeError::Unsupported),
    };
    if text.is_empty() || text.len() > 1024 {
        return Err(EncodeError::Invalid("the text must have 1 to 1024 bytes"));
    }
    let bytes = parse_hex(&text).filter(|_| !text.contains(' '));
    Ok(command_frame(5, &bytes.unwrap_or_else(|| text.into_bytes())))
}

/// `setdigout ?1` changes only the second output.
fn output_control(index: i64, on: bool) -> Result<String, EncodeError> {
    let before = usize::try_from(index - 1).ok().filter(|before| *before < 4);
    let before = before.ok_or(EncodeError::Invalid("the value \"index\" must be from 1 to 4"))?;
    Ok(format!("setdigout {}{}", "?".repeat(before), u8::from(on)))
}
