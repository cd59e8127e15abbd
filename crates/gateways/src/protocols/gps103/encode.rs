//! Commands to GPS103 devices: `**,imei:name,letter`.

use crate::command::{Command, EncodeError, Target};

pub(super) fn encode(command: &Command, target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let body = match command.kind.as_str() {
        "positionSingle" => "B".to_owned(),
        "positionPeriodic" => format!("C,{}", interval(command.integer("frequency")?)?),
        "positionStop" => "D".to_owned(),
        "engineStop" => "J".to_owned(),
        "engineResume" => "K".to_owned(),
        "alarmArm" => "L".to_owned(),
        "alarmDisarm" => "M".to_owned(),
        "requestPhoto" => "160".to_owned(),
        "custom" => command.text("data")?.to_owned(),
        _ => return Err(EncodeError::Unsupported),
    };
    Ok(format!("**,imei:{},{body}", target.identifier).into_bytes())
}

/// Two digits and the letter of their unit.
fn interval(seconds: i64) -> Result<String, EncodeError> {
    match seconds {
        1..=59 => Ok(format!("{seconds:02}s")),
        60..=3599 => Ok(format!("{:02}m", seconds / 60)),
        3600..=359_999 => Ok(format!("{:02}h", seconds / 3600)),
        _ => Err(EncodeError::Invalid("the interval must be from 1 second to 99 hours")),
    }
}
