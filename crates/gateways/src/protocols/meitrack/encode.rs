//! Sentences to Meitrack units: `@@flag length,name,content*checksum`.

use crate::command::{Command, EncodeError, Target};
use crate::notation::checksum::sum;

/// A sentence; its length counts from the first comma to the line's end.
pub(super) fn sentence(flag: char, name: &str, content: &str) -> Vec<u8> {
    let length = name.len() + content.len() + 7;
    let mut bytes = format!("@@{flag}{length:02},{name},{content}*").into_bytes();
    let checksum = format!("{:02X}\r\n", sum(&bytes));
    bytes.extend_from_slice(checksum.as_bytes());
    bytes
}

pub(super) fn encode(command: &Command, target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let content = match command.kind.as_str() {
        "positionSingle" => "A10".to_owned(),
        "engineStop" => "C01,0,12222".to_owned(),
        "engineResume" => "C01,0,02222".to_owned(),
        "alarmArm" => "C01,0,22122".to_owned(),
        "alarmDisarm" => "C01,0,22022".to_owned(),
        "requestPhoto" => {
            let camera = command.integer("index").unwrap_or(1);
            format!("D03,{camera},camera_picture.jpg")
        }
        "sendSms" => format!("C02,0,{},{}", command.text("phone")?, command.text("message")?),
        "custom" => command.text("data")?.to_owned(),
        _ => return Err(EncodeError::Unsupported),
    };
    Ok(sentence('A', target.identifier, &content))
}
