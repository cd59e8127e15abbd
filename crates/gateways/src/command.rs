//! Commands to devices, before they are encoded for a protocol.

use perigee_core::devices::command::CommandKind;
use perigee_core::time::Timestamp;
use serde_json::{Map, Value as Json};

use crate::decoded::Options;
use crate::notation::hex::parse_hex;
use crate::protocol::Protocol;

/// A command to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Command {
    /// The type, such as `engineStop` or `custom`.
    pub kind: String,
    /// Values by name, as the API checked them.
    pub values: Map<String, Json>,
}

/// The device a command is for.
#[derive(Clone, Copy, Debug)]
pub struct Target<'a> {
    /// The identifier of the device.
    pub identifier: &'a str,
    /// Its model, if one is set.
    pub model: Option<&'a str>,
    /// Decoding settings of the device.
    pub options: &'a Options,
    /// The current time, for commands that set a clock.
    pub now: Timestamp,
}

/// Why a command cannot be encoded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// The protocol does not support the command.
    #[error("the protocol does not support this command")]
    Unsupported,
    /// A parameter is missing.
    #[error("the value \"{0}\" is missing; give it in \"values\"")]
    Missing(&'static str),
    /// A parameter has an invalid value.
    #[error("{0}")]
    Invalid(&'static str),
}

impl Command {
    /// A command without parameters.
    pub fn plain(kind: &str) -> Self {
        Self { kind: kind.to_owned(), values: Map::new() }
    }

    /// The text of a required parameter.
    pub fn text(&self, name: &'static str) -> Result<&str, EncodeError> {
        self.optional_text(name).ok_or(EncodeError::Missing(name))
    }

    /// The text of a parameter.
    pub fn optional_text(&self, name: &str) -> Option<&str> {
        self.values.get(name)?.as_str()
    }

    /// The whole number of a parameter, which may also be written as text.
    pub fn integer(&self, name: &'static str) -> Result<i64, EncodeError> {
        let value = self.values.get(name).ok_or(EncodeError::Missing(name))?;
        let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
        number.ok_or(EncodeError::Invalid("the value must be a whole number"))
    }

    /// Whether a parameter is `true`.
    pub fn flag(&self, name: &str) -> bool {
        self.values.get(name).and_then(Json::as_bool).unwrap_or(false)
    }
}

/// The encoder of a protocol without commands.
pub fn no_commands(_command: &Command, _target: &Target<'_>) -> Result<Vec<u8>, EncodeError> {
    Err(EncodeError::Unsupported)
}

/// Encodes a command for a protocol. The value `hex` of a custom command is sent unchanged.
pub fn encode_command(
    protocol: &Protocol,
    command: &Command,
    target: &Target<'_>,
) -> Result<Vec<u8>, EncodeError> {
    if let Some(digits) = command.optional_text("hex").filter(|_| command.kind == "custom") {
        let sample = Command { kind: command.kind.clone(), values: CommandKind::Custom.sample() };
        if (protocol.encode)(&sample, target) == Err(EncodeError::Unsupported) {
            return Err(EncodeError::Unsupported);
        }
        let bytes = parse_hex(digits).filter(|bytes| !bytes.is_empty());
        return bytes.ok_or(EncodeError::Invalid("\"hex\" must be pairs of hexadecimal digits"));
    }
    // Numbers become texts, because encoders read numbers from texts but not texts from numbers.
    let as_text =
        |value: &Json| value.as_i64().map_or_else(|| value.clone(), |number| number.to_string().into());
    let values = command.values.iter().map(|(name, value)| (name.clone(), as_text(value))).collect();
    (protocol.encode)(&Command { kind: command.kind.clone(), values }, target)
}

/// The types of commands that devices of this protocol support.
pub fn supported_commands(protocol: &Protocol, target: &Target<'_>) -> Vec<CommandKind> {
    let takes = |kind: &CommandKind| {
        let sample = Command { kind: kind.name().to_owned(), values: kind.sample() };
        encode_command(protocol, &sample, target) != Err(EncodeError::Unsupported)
    };
    CommandKind::ALL.iter().copied().filter(takes).collect()
}
