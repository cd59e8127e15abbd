//! Reading a command from a request.

use perigee_core::devices::command::{Command, CommandKind, NewCommand};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde_json::Map;
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{Instant, Member, Word, read_fields, text};
use crate::http::json::{Field, Fields};
use crate::http::prelude::*;

/// The most values of a command.
const VALUES_MAX: usize = 10;

input! {
    /// Command to a device.
    pub(super) struct CommandInput {
        /// Type of the command, such as `positionSingle`: the action that the device performs.
        kind as "type": Word<CommandKind>, required, example "positionPeriodic";
        /// Values of the command, by name. `GET /api/devices/{deviceId}/commandTypes` lists the values of each type.
        /// Any type accepts `devicePassword`, the password of the device. At most 10. Default: none.
        values: ValueMap, nullable, example {"frequency": 60};
        /// Confirmation that the command endangers nobody. Must be `true` for `engineStop` and `engineResume`. Default:
        /// `false`.
        confirm: bool, or(false);
        /// Time after which the command is no longer sent, at most 30 days from now. Default: 24 hours from now.
        deadline: Instant, nullable, example "2026-05-02T12:00:00Z";
    }
}

input! {
    /// Command to a device: by its type, or as text in the syntax of the device's protocol.
    pub(super) struct SendCommandInput {
        /// Type of the command, such as `positionSingle`: the action that the device performs. Required unless
        /// `command` is given.
        kind as "type": Word<CommandKind>, nullable, example "positionPeriodic";
        /// Values of the command, by name. `GET /api/devices/{deviceId}/commandTypes` lists the values of each type.
        /// Any type accepts `devicePassword`, the password of the device. At most 10. Default: none.
        values: ValueMap, nullable, example {"frequency": 60};
        /// Confirmation that the command endangers nobody. Must be `true` for `engineStop` and `engineResume`. Default:
        /// `false`.
        confirm: bool, or(false);
        /// Time after which the command is no longer sent, at most 30 days from now. Default: 24 hours from now.
        deadline: Instant, nullable, example "2026-05-02T12:00:00Z";
        /// Custom command as text, in place of `type`. Must not be given together with `type`.
        command: CommandText, nullable, example null;
        /// Format of `command`: `text` for the text itself, `hex` for bytes in hexadecimal digits. Upper and lower case
        /// are not distinguished. Default: `text`.
        format: FormatWord, nullable, example null;
        /// Whether to send the command by SMS. Must be `false` or null: commands are sent over the connection of the
        /// device.
        sms: bool, nullable, example false;
    }
}

/// The format of the text of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextFormat {
    Text,
    Hex,
}

/// The name of a [`TextFormat`] in any letter case; empty for the default.
pub(super) enum FormatWord {}

impl Member for FormatWord {
    type Value = TextFormat;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, TextFormat> {
        fields.text(name).convert(|text| match text.to_ascii_lowercase().as_str() {
            "" | "text" => Ok(TextFormat::Text),
            "hex" => Ok(TextFormat::Hex),
            _ => Err("must be \"text\" or \"hex\"".into()),
        })
    }

    fn schema() -> RefOr<Schema> {
        text(0, 4, |schema| schema.pattern(Some("^([Tt][Ee][Xx][Tt]|[Hh][Ee][Xx])?$")))
    }
}

/// The text of a custom command, which may have any character of the protocol.
pub(super) enum CommandText {}

impl Member for CommandText {
    type Value = String;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
        fields.text(name).convert(Ok)
    }

    fn schema() -> RefOr<Schema> {
        text(1, 2 * CommandKind::TEXT_MAX, |schema| schema.pattern(Some(r"^[^\x00]*$")))
    }
}

/// Texts, numbers and flags by name.
pub(super) enum ValueMap {}

impl Member for ValueMap {
    type Value = Map<String, Value>;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Map<String, Value>> {
        fields.raw(name).convert(|value| match value.as_object() {
            Some(object) if object.len() <= VALUES_MAX => Ok(object.clone()),
            _ => Err("must be an object with at most 10 members".into()),
        })
    }

    fn schema() -> RefOr<Schema> {
        let anything = AdditionalProperties::FreeForm(true);
        ObjectBuilder::new().schema_type(Type::Object).additional_properties(Some(anything)).into()
    }
}

/// Members of answers that clients do not set.
const READ_ONLY: &[&str] =
    &["id", "deviceId", "state", "creation", "createdBy", "protocol", "sentAt", "endedAt", "answer", "error"];

pub(super) fn read_command(body: &Value, zone: &Zone, now: Timestamp) -> ApiResult<NewCommand> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE, READ_ONLY], |input: CommandInput, fields| {
        let values = input.values.unwrap_or_default();
        check_command(input.kind, values, input.confirm, input.deadline, now, fields)
    })
}

/// Reads a command of `sendCommand`, by type or as text.
pub(super) fn read_sent_command(body: &Value, zone: &Zone, now: Timestamp) -> ApiResult<NewCommand> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE, READ_ONLY], |input: SendCommandInput, fields| {
        let mut values = input.values.unwrap_or_default();
        let kind = match (input.kind, input.command) {
            (None, Some(text)) => {
                let value = if input.format == Some(TextFormat::Hex) { "hex" } else { "data" };
                values.insert(value.to_owned(), text.into());
                Some(CommandKind::Custom)
            }
            (None, None) => {
                fields.refuse("command", "is required unless \"type\" is given");
                None
            }
            (kind, None) => kind,
            (Some(_), Some(_)) => {
                fields.refuse("command", "must not be given together with \"type\"");
                None
            }
        };
        if input.sms == Some(true) {
            fields.refuse("sms", "must be false: commands are sent over the connection of the device");
        }
        check_command(kind, values, input.confirm, input.deadline, now, fields)
    })
}

/// Checks the parts of a command together.
fn check_command(
    kind: Option<CommandKind>,
    mut values: Map<String, Value>,
    is_confirmed: bool,
    deadline: Option<Timestamp>,
    now: Timestamp,
    fields: &mut Fields<'_>,
) -> Option<NewCommand> {
    if let Some(kind) = kind {
        if let Err(problem) = kind.read(&mut values) {
            fields.refuse("values", &format!("are not valid for the command {}: {problem}", kind.name()));
        }
        if kind.needs_confirmation() && !is_confirmed {
            fields.refuse("confirm", "must be true for this command: make sure that nobody is in danger, then send it with \"confirm\": true");
        }
    }
    let latest = now.plus_seconds(Command::DEADLINE_MAX_S);
    let deadline = deadline.unwrap_or_else(|| now.plus_seconds(Command::DEADLINE_S));
    if deadline <= now || deadline > latest {
        fields.refuse("deadline", "must be in the future, at most 30 days from now");
    }
    Some(NewCommand { kind: kind?, values: Value::Object(values).to_string(), deadline })
}
