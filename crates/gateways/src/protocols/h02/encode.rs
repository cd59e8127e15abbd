//! Commands to H02 devices: `*HQ,name,kind,HHmmss,...#`.

use crate::command::{Command, EncodeError, Target};
use crate::notation::calendar::Civil;

pub(super) fn encode(command: &Command, target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let digits = Civil::of(target.now).digits();
    let time = digits.get(8..).unwrap_or_default();
    let body = match command.kind.as_str() {
        "alarmArm" => format!("SCF,{time},0,0"),
        "alarmDisarm" => format!("SCF,{time},1,1"),
        "engineStop" => format!("S20,{time},1,1"),
        "engineResume" => format!("S20,{time},1,0"),
        "positionPeriodic" => format!("S71,{time},22,{}", command.integer("frequency")?),
        "custom" => command.text("data")?.to_owned(),
        _ => return Err(EncodeError::Unsupported),
    };
    Ok(format!("*HQ,{},{body}#", target.identifier).into_bytes())
}
