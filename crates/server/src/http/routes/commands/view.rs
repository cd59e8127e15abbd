//! How commands are shown.

use perigee_core::command::{Command, CommandKind};
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

use crate::http::input::{Word, words};

words! {
    "CommandType", "What a device is told to do." => CommandKind;
}

/// What a device is told to do.
pub type CommandTypeName = Word<CommandKind>;

/// A command to a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Command)]
pub struct CommandView {
    /// The command's id; later commands have larger ones.
    #[schema(example = "cmd_01jc2m8k4n5p6")]
    id: String,
    /// The device that is told.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// What the device is told to do.
    #[serde(rename = "type")]
    #[schema(value_type = CommandTypeName, example = "positionPeriodic")]
    kind: &'static str,
    /// Its values. A `devicePassword` is not shown.
    #[schema(value_type = Object, example = json!({"frequency": 60}))]
    values: Map<String, Value>,
    /// How far it is.
    #[schema(value_type = CommandStateName, example = "answered")]
    state: &'static str,
    /// When it was given.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// The id of the user who gave it; null for the operator.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// It is not sent after this instant.
    #[schema(example = "2026-05-02T12:00:00Z", format = DateTime)]
    deadline: String,
    /// The protocol in which it was sent.
    #[schema(example = "gt06")]
    protocol: Option<String>,
    /// When it was sent.
    #[schema(example = "2026-05-01T12:00:03Z", format = DateTime)]
    sent_at: Option<String>,
    /// When it was answered, failed or expired.
    #[schema(example = "2026-05-01T12:00:04Z", format = DateTime)]
    ended_at: Option<String>,
    /// What the device answered.
    #[schema(example = "TIMER OK")]
    answer: Option<String>,
    /// Why it failed.
    #[schema(example = json!(null))]
    error: Option<String>,
}

/// How far a command is.
#[derive(ToSchema)]
#[schema(as = CommandState, rename_all = "camelCase")]
pub enum CommandStateName {
    /// It waits for its device to connect.
    Queued,
    /// It was written to the device's connection. Many devices answer nothing.
    Sent,
    /// The device answered it.
    Answered,
    /// It could not be sent, or was cancelled; `error` says why.
    Failed,
    /// It was not sent before its deadline.
    Expired,
}

/// A list of commands.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandList {
    /// The commands, newest first.
    commands: Vec<CommandView>,
    /// Where to continue, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A command that a device takes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandTypeView {
    /// Its name as `type` of a command.
    #[serde(rename = "type")]
    #[schema(value_type = CommandTypeName, example = "positionPeriodic")]
    kind: &'static str,
    /// What the device does.
    #[schema(example = "Reports its position every `frequency` seconds.")]
    description: &'static str,
    /// Names of the values that it takes.
    #[schema(example = json!(["frequency"]))]
    values: Vec<&'static str>,
    /// Whether it has to be confirmed.
    #[schema(example = false)]
    needs_confirmation: bool,
}

/// The commands that a device takes.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandTypeList {
    /// The protocol that the device speaks; null if it has not been heard.
    #[schema(example = "gt06")]
    pub(super) protocol: Option<String>,
    /// The commands of the protocol; all there are while the protocol is not known.
    pub(super) command_types: Vec<CommandTypeView>,
}

impl From<CommandKind> for CommandTypeView {
    fn from(kind: CommandKind) -> Self {
        Self {
            kind: kind.name(),
            description: kind.description(),
            values: kind.values().collect(),
            needs_confirmation: kind.needs_confirmation(),
        }
    }
}

impl From<Command> for CommandView {
    fn from(command: Command) -> Self {
        let mut values: Map<String, Value> = serde_json::from_str(&command.values).unwrap_or_default();
        values.remove("devicePassword");
        Self {
            id: command.id.to_string(),
            device_id: command.device.to_string(),
            kind: command.kind.name(),
            values,
            state: command.state.name(),
            creation: command.creation.to_string(),
            created_by: command.created_by.map(|user| user.to_string()),
            deadline: command.deadline.to_string(),
            protocol: command.protocol,
            sent_at: command.sent_at.map(|at| at.to_string()),
            ended_at: command.ended_at.map(|at| at.to_string()),
            answer: command.answer,
            error: command.error,
        }
    }
}
