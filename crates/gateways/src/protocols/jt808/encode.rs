//! Commands to JT/T 808 terminals.

use crate::command::{Command, EncodeError, Target};
use crate::notation::hex::parse_hex;

use super::header::write;

pub(super) fn encode(command: &Command, target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    match command.kind.as_str() {
        "engineStop" => message(0x8105, target, &[0xf0]),
        "engineResume" => message(0x8105, target, &[0xf1]),
        "rebootDevice" => message(0x8105, target, &[4]),
        "positionSingle" => message(0x8201, target, &[]),
        "positionPeriodic" => {
            let seconds = u32::try_from(command.integer("frequency")?).map_err(|_range| {
                EncodeError::Invalid("the value \"frequency\" must be a whole number of seconds")
            })?;
            // One parameter: the interval of reports.
            let mut body = vec![1, 0, 0, 0, 0x29, 4];
            body.extend_from_slice(&seconds.to_be_bytes());
            message(0x8103, target, &body)
        }
        // Shown on the terminal's display and spoken.
        "message" => message(0x8300, target, &[&[0x0c], command.text("message")?.as_bytes()].concat()),
        "requestPhoto" => {
            let channel = u8::try_from(command.integer("index")?)
                .map_err(|_range| EncodeError::Invalid("the value \"index\" must be from 0 to 255"))?;
            // One photo, immediately, uploaded and not stored; 640 by 480, medium quality, normal brightness.
            message(0x8801, target, &[channel, 0, 1, 0, 0, 0, 2, 5, 127, 63, 63, 127])
        }
        "custom" => custom(command.text("data")?, target),
        _ => Err(EncodeError::Unsupported),
    }
}

/// Text for the models that support it, bytes for all others.
fn custom(data: &str, target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let is = |model: &str| target.model.is_some_and(|set| set.eq_ignore_ascii_case(model));
    let with_kind = |kind: u8| [&[kind], data.as_bytes()].concat();
    if is("BSJ") {
        message(0x8300, target, &with_kind(1))
    } else if ["JC371", "JC181", "JC182", "JC450", "JC451"].into_iter().any(is) {
        message(0x8900, target, &with_kind(0xf0))
    } else {
        parse_hex(data)
            .ok_or(EncodeError::Invalid("a custom command for this model must be hexadecimal digits"))
    }
}

fn message(kind: u16, target: &Target<'_>, body: &[u8]) -> Result<Vec<u8>, EncodeError> {
    if body.len() > 0x3ff {
        return Err(EncodeError::Invalid("the text must have at most 1022 bytes"));
    }
    let invalid = EncodeError::Invalid("the identifier of the device must consist of digits");
    let modern = target.options.flag("jt808-2019");
    let digits = target.identifier;
    let name = if modern {
        parse_hex(&format!("{digits:0>20}")).filter(|name| name.len() == 10).ok_or(invalid)?
    } else if digits.len().is_multiple_of(2) {
        parse_hex(&format!("{digits:0>12}")).ok_or(invalid)?
    } else {
        // The number of a terminal without its check digit, in binary.
        let number =
            digits.get(..digits.len().saturating_sub(1)).and_then(|number| number.parse::<u64>().ok());
        number.ok_or(invalid)?.to_be_bytes().get(2..).unwrap_or_default().to_vec()
    };
    Ok(write(kind, modern.then_some(1), &name, &[0, 0], body))
}
