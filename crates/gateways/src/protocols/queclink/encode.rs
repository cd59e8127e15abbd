//! Commands to Queclink devices: `AT+GT...=password,...,count$`.

use crate::command::{Command, EncodeError, Target};

/// Writes a command. The password of the device is in the value `devicePassword` or the option `password`; otherwise it
/// is the default of the maker.
pub(super) fn encode(command: &Command, target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    let password = command
        .optional_text("devicePassword")
        .or_else(|| target.options.text("password"))
        .unwrap_or(if target.model.is_some_and(|model| model.starts_with("GV")) { "gv200" } else { "gl200" });
    let line = match command.kind.as_str() {
        "positionSingle" => format!("AT+GTRTO={password},1,,,,,,FFFF$"),
        "engineStop" => format!("AT+GTOUT={password},1,,,0,0,0,0,0,0,0,,,,,,,FFFF$"),
        "engineResume" => format!("AT+GTOUT={password},0,,,0,0,0,0,0,0,0,,,,,,,FFFF$"),
        "deviceIdentification" => format!("AT+GTRTO={password},8,,,,,,FFFF$"),
        "rebootDevice" => format!("AT+GTRTO={password},3,,,,,,FFFF$"),
        "custom" => {
            let text = command.text("data")?;
            if text.ends_with('$') { text.to_owned() } else { format!("{text}$") }
        }
        _ => return Err(EncodeError::Unsupported),
    };
    Ok(line.into_bytes())
}
