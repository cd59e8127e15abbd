//! What a client gives for a command.

use perigee_core::command::{Command, CommandKind, NewCommand};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde_json::{Map, Value};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::input::{Instant, Member, Word, input, read_fields, text};
use crate::http::json::{Field, Fields};

/// Values that a command may have.
const VALUES_MAX: usize = 10;

input! {
    /// A command to be given.
    pub(super) struct CommandInput {
        /// What the device is told to do.
        kind as "type": Word<CommandKind>, required, example "positionPeriodic";
        /// Its values, by name: `GET /api/devices/{deviceId}/commandTypes` lists them.
        values: ValueMap, nullable, example {"frequency": 60};
        /// Must be true for `engineStop` and `engineResume`: somebody has made sure that it is safe.
        confirm: bool, or(false);
        /// The command is not sent after this time. Default: a day from now; at most 30 days.
        deadline: Instant, nullable, example "2026-05-02T12:00:00Z";
    }
}

input! {
    /// A command by its type, or as text in the words of the device's protocol.
    pub(super) struct SendCommandInput {
        /// The type of the command; left out if `command` is given.
        kind as "type": Word<CommandKind>, nullable, example "positionPeriodic";
        /// Values of the type, by name: `GET /api/devices/{deviceId}/commandTypes` lists them.
        values: ValueMap, nullable, example {"frequency": 60};
        /// Must be true for `engineStop` and `engineResume`: somebody has made sure that it is safe.
        confirm: bool, or(false);
        /// The command is not sent after this time. Default: a day from now; at most 30 days.
        deadline: Instant, nullable, example "2026-05-02T12:00:00Z";
        /// A custom command as text, in place of `type` and `values`.
        command: CommandText, nullable, example null;
        /// How `command` is written: `text` (default), or `hex` for bytes as hexadecimal digits; in any letter case.
        format: FormatWord, nullable, example null;
        /// Must be false: commands are sent over the connection of the device, not by SMS.
        sms: bool, nullable, example false;
    }
}

/// How the text of a command is written.
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

/// What answers have and clients do not set.
const READ_ONLY: &[&str] =
    &["id", "deviceId", "state", "creation", "createdBy", "protocol", "sentAt", "endedAt", "answer", "error"];

/// Reads a command.
pub(super) fn read_command(body: &Value, zone: &Zone, now: Timestamp) -> ApiResult<NewCommand> {
    let fields = Fields::of(body).map_err(invalid_body)?.in_zone(zone);
    read_fields(fields, &[ENVELOPE, READ_ONLY], |input: CommandInput, fields| {
        let values = input.values.unwrap_or_default();
        check_command(input.kind, values, input.confirm, input.deadline, now, fields)
    })
}

/// Reads a command in either form of the older path.
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
                fields.refuse("command", "is required: a text to send, or \"type\" instead");
                None
            }
            (kind, None) => kind,
            (Some(_), Some(_)) => {
                fields.refuse("command", "must be left out beside \"type\"");
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
            fields.refuse("values", &format!("of {} are not valid: {problem}", kind.name()));
        }
        if kind.needs_confirmation() && !is_confirmed {
            fields.refuse("confirm", "must be true: make sure that nobody is in danger, then send it again");
        }
    }
    let latest = now.plus_seconds(Command::DEADLINE_MAX_S);
    let deadline = deadline.unwrap_or_else(|| now.plus_seconds(Command::DEADLINE_S));
    if deadline <= now || deadline > latest {
        fields.refuse("deadline", "must be in the future, at most 30 days from now");
    }
    Some(NewCommand { kind: kind?, values: Value::Object(values).to_string(), deadline })
}
