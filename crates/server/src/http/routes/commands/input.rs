//! What a client gives for a command.

use perigee_core::command::{Command, CommandKind, NewCommand};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde_json::{Map, Value};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiResult, invalid_body};
use crate::http::input::{Instant, Member, Word, input, read_fields};
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
        /// It is not sent after this instant; a day from now when left out, 30 days at the most.
        deadline: Instant, nullable, example "2026-05-02T12:00:00Z";
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
        if let Some(kind) = input.kind {
            if let Err(problem) = kind.check(&values) {
                fields.refuse("values", &format!("of {} are not right: {problem}", kind.name()));
            }
            if kind.needs_confirmation() && !input.confirm {
                fields.refuse(
                    "confirm",
                    "must be true: make sure that nobody is in danger, then send it again",
                );
            }
        }
        let latest = now.plus_seconds(Command::DEADLINE_MAX_S);
        let deadline = input.deadline.unwrap_or_else(|| now.plus_seconds(Command::DEADLINE_S));
        if deadline <= now || deadline > latest {
            fields.refuse("deadline", "must be in the future, 30 days from now at the most");
        }
        Some(NewCommand { kind: input.kind?, values: Value::Object(values).to_string(), deadline })
    })
}

/// Turns the body of the older form, `{"command": "text"}`, into a custom command.
pub(super) fn modernise(mut body: Value) -> Value {
    if let Some(members) = body.as_object_mut()
        && !members.contains_key("type")
        && let Some(text) = members.remove("command")
    {
        members.insert("type".to_owned(), "custom".into());
        members.insert("values".to_owned(), serde_json::json!({ "data": text }));
    }
    body
}
