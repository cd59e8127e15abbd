//! Packets to Ruptela units.

use crate::command::{Command, EncodeError, Target};
use crate::notation::checksum::crc16_kermit;
use crate::notation::hex::parse_hex;

/// A packet: length, the command plus 100, content, checksum.
pub(super) fn packet(command: u8, content: &[u8]) -> Vec<u8> {
    let mut body = vec![command.saturating_add(100)];
    body.extend_from_slice(content);
    let mut bytes = u16::try_from(body.len()).unwrap_or(u16::MAX).to_be_bytes().to_vec();
    bytes.extend_from_slice(&body);
    bytes.extend_from_slice(&crc16_kermit(&body).to_be_bytes());
    bytes
}

pub(super) fn encode(command: &Command, _target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let small = |name: &'static str| {
        u32::try_from(command.integer(name)?)
            .map_err(|_large| EncodeError::Invalid("the number in \"values\" is too large"))
    };
    Ok(match command.kind.as_str() {
        "custom" => {
            let data = command.text("data")?;
            // Hexadecimal digits are a whole packet, anything else a text command.
            match parse_hex(data).filter(|bytes| !bytes.is_empty()) {
                Some(bytes) => bytes,
                None if data.len() <= 1000 => packet(8, data.as_bytes()),
                None => return Err(EncodeError::Invalid("the text must have at most 1000 bytes")),
            }
        }
        "getVersion" => packet(3, &[]),
        "setOdometer" => packet(6, &small("data")?.to_be_bytes()),
        "outputControl" => {
            packet(17, &[small("index")?.to_be_bytes(), small("data")?.to_be_bytes()].concat())
        }
        "requestPhoto" => {
            let source =
                command.integer("index").ok().and_then(|index| u8::try_from(index).ok()).unwrap_or(0);
            let mut content = vec![1, source];
            content.extend_from_slice(&0_u32.to_be_bytes());
            content.extend_from_slice(&i32::MAX.to_be_bytes());
            packet(37, &content)
        }
        _ => return Err(EncodeError::Unsupported),
    })
}
