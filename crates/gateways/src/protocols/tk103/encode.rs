//! Commands to TK103 devices: `(nameAV010)`, or on units with the option `alternative` `[begin]sms2,text,[end]`.

use crate::command::{Command, EncodeError, Target};

pub(super) fn encode(command: &Command, target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let text = if target.options.flag("alternative") {
        format!("[begin]sms2,{},[end]", alternative(command)?)
    } else {
        format!("({}{})", target.identifier, usual(command)?)
    };
    Ok(text.into_bytes())
}

fn usual(command: &Command) -> Result<String, EncodeError> {
    Ok(match command.kind.as_str() {
        "custom" => command.text("data")?.to_owned(),
        "getVersion" => "AP07".to_owned(),
        "rebootDevice" => "AT00".to_owned(),
        "setOdometer" => "AX01".to_owned(),
        "positionSingle" => "AP00".to_owned(),
        "positionPeriodic" => {
            let seconds = u16::try_from(command.integer("frequency")?)
                .map_err(|_large| EncodeError::Invalid("the interval must be from 0 to 65535 seconds"))?;
            format!("AR00{seconds:04X}0000")
        }
        "positionStop" => "AR0000000000".to_owned(),
        "engineStop" => "AV010".to_owned(),
        "engineResume" => "AV011".to_owned(),
        "outputControl" => format!("AV00{}", command.integer("data")?),
        _ => return Err(EncodeError::Unsupported),
    })
}

fn alternative(command: &Command) -> Result<String, EncodeError> {
    Ok(match command.kind.as_str() {
        "custom" => command.text("data")?.to_owned(),
        "getVersion" => "*about*".to_owned(),
        "rebootDevice" => "88888888".to_owned(),
        "deviceIdentification" => "999999".to_owned(),
        "positionSingle" => "*getposl*".to_owned(),
        "positionPeriodic" => "*routetrack*99*".to_owned(),
        "positionStop" => "*routetrackoff*".to_owned(),
        "alarmSos" => format!("*sos{}*", if command.flag("enable") { "on" } else { "off" }),
        "setConnection" => {
            format!("*setip*{}*{}*", command.text("server")?.replace('.', "*"), command.integer("port")?)
        }
        "sosNumber" => format!("*master*{}*{}*", command.text("devicePassword")?, command.text("phone")?),
        _ => return Err(EncodeError::Unsupported),
    })
}
