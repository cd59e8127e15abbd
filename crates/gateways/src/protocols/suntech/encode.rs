//! Commands to Suntech units: `SA200CMD;name;02;Reboot`, or `CMD;name;03;03` to units with report maps.

use crate::command::{Command, EncodeError, Target};

/// Encodes a command. The option `universal` marks units with report maps; for others the command contains the model.
pub(super) fn encode(command: &Command, target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let name = target.identifier;
    let text = if target.options.flag("universal") {
        format!("CMD;{name};{}\r", universal(command)?)
    } else {
        let model = target.model.and_then(|model| model.get(..5)).filter(|model| is_prefix(model));
        format!("{}CMD;{name};02;{}\r", model.unwrap_or("SA200"), classic(command)?)
    };
    Ok(text.into_bytes())
}

/// `ST` or `SA` and three digits.
fn is_prefix(model: &str) -> bool {
    let digits = model.strip_prefix("ST").or_else(|| model.strip_prefix("SA"));
    digits.is_some_and(|digits| digits.len() == 3 && digits.bytes().all(|byte| byte.is_ascii_digit()))
}

fn classic(command: &Command) -> Result<String, EncodeError> {
    Ok(match command.kind.as_str() {
        "rebootDevice" => "Reboot".to_owned(),
        "positionSingle" => "StatusReq".to_owned(),
        "engineStop" => "Enable1".to_owned(),
        "engineResume" => "Disable1".to_owned(),
        "alarmArm" => "Enable2".to_owned(),
        "alarmDisarm" => "Disable2".to_owned(),
        "outputControl" => {
            let action = if is_on(command)? { "Enable" } else { "Disable" };
            format!("{action}{}", command.integer("index")?)
        }
        "custom" => command.text("data")?.to_owned(),
        _ => return Err(EncodeError::Unsupported),
    })
}

fn universal(command: &Command) -> Result<String, EncodeError> {
    Ok(match command.kind.as_str() {
        "rebootDevice" => "03;03".to_owned(),
        "positionSingle" => "03;01".to_owned(),
        "engineStop" => "04;01".to_owned(),
        "engineResume" => "04;02".to_owned(),
        "alarmArm" => "04;03".to_owned(),
        "alarmDisarm" => "04;04".to_owned(),
        "outputControl" => {
            let index = command.integer("index")?;
            if !(1..=4).contains(&index) {
                return Err(EncodeError::Invalid("the value \"index\" must be from 1 to 4"));
            }
            format!("04;{:02}", index * 2 - i64::from(is_on(command)?))
        }
        "custom" => command.text("data")?.to_owned(),
        _ => return Err(EncodeError::Unsupported),
    })
}

/// Whether `data` is 1, as a number or a text.
fn is_on(command: &Command) -> Result<bool, EncodeError> {
    Ok(command.integer("data")? == 1)
}
