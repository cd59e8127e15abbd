//! The JSON of commands.

use perigee_core::devices::command::{Command, CommandKind};
use serde_json::Map;

use crate::http::input::{Word, words};
use crate::http::prelude::*;

words! {
    "CommandType", "Type of a command: the action that the device performs. `positionSingle`: report its position now; `positionPeriodic`: report its position \
     every `frequency` seconds; `positionStop`: stop periodic reports; `engineStop`, `engineResume`: stop the engine, allow it to \
     run again; `outputControl`: switch an output; `rebootDevice`: restart; `message`: show a text to the driver; `sendSms`: \
     send an SMS; `requestPhoto`: take a photo and upload it; `alarmArm`, `alarmDisarm`: switch its alarm on or off; `alarmSos`: switch \
     its SOS button on or off; `sosNumber`: set a telephone number to call on SOS; `setOdometer`: set the odometer; \
     `setConnection`: report to another server; `getVersion`, `getDeviceStatus`, `deviceIdentification`: answer with its versions, \
     its status or its name; `custom`: any text or bytes of its protocol." => CommandKind;
}

/// The type of a command in schemas.
pub type CommandTypeName = Word<CommandKind>;

/// Command to a device.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Command)]
pub struct CommandView {
    /// Unique identifier of the command, assigned by the server. Later commands have greater IDs.
    #[schema(example = "cmd_01jc2m8k4n5p6")]
    id: String,
    /// ID of the device that the command is for.
    #[schema(example = "dev_01jc2m8k4n5p7")]
    device_id: String,
    /// Type of the command, such as `positionSingle`: the action that the device performs.
    #[serde(rename = "type")]
    #[schema(value_type = CommandTypeName, example = "positionPeriodic")]
    kind: &'static str,
    /// Values of the command, by name. `devicePassword` is never returned.
    #[schema(value_type = Object, example = json!({"frequency": 60}))]
    values: Map<String, Value>,
    /// State of the command.
    #[schema(value_type = CommandStateName, example = "answered")]
    state: &'static str,
    /// Time at which the command was created.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    creation: String,
    /// ID of the user who created the command. Null if no user did.
    #[schema(example = "usr_01jc2m8k4n5p6")]
    created_by: Option<String>,
    /// Time after which the command is no longer sent.
    #[schema(example = "2026-05-02T12:00:00Z", format = DateTime)]
    deadline: String,
    /// Protocol in which the command was sent. Null if it was not sent yet.
    #[schema(example = "gt06")]
    protocol: Option<String>,
    /// Time at which the command was sent to the device. Null if it was not sent.
    #[schema(example = "2026-05-01T12:00:03Z", format = DateTime)]
    sent_at: Option<String>,
    /// Time at which the command was answered, failed or expired. Null before.
    #[schema(example = "2026-05-01T12:00:04Z", format = DateTime)]
    ended_at: Option<String>,
    /// Answer of the device, up to 1000 characters. Null if there is none.
    #[schema(example = "TIMER OK")]
    answer: Option<String>,
    /// Reason for which the command failed. Null unless `state` is `failed`.
    #[schema(example = json!(null))]
    error: Option<String>,
}

/// State of a command. `queued`: waits until the device is connected. `sent`: sent over the connection of the device;
/// many devices do not answer. `answered`: the device answered. `failed`: it could not be sent, or was cancelled; `error`
/// has the reason. `expired`: it was not sent before its deadline.
#[derive(ToSchema)]
#[schema(as = CommandState, rename_all = "camelCase")]
pub enum CommandStateName {
    /// The command waits until the device is connected.
    Queued,
    /// The command was sent over the connection of the device. Many devices do not answer.
    Sent,
    /// The device answered the command.
    Answered,
    /// The command could not be sent, or was cancelled. `error` has the reason.
    Failed,
    /// The command was not sent before its deadline.
    Expired,
}

list! {
    /// A list of commands.
    pub struct CommandList;
    /// Commands, newest first.
    commands: CommandView,
}

/// Type of command that a device supports.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandTypeView {
    /// Name of the type, for the member `type` of a command.
    #[serde(rename = "type")]
    #[schema(value_type = CommandTypeName, example = "positionPeriodic")]
    kind: &'static str,
    /// Action of the device on this command, as a sentence in English.
    #[schema(example = "Reports its position every `frequency` seconds.")]
    description: &'static str,
    /// Names of the values that the command accepts in `values`.
    #[schema(example = json!(["frequency"]))]
    values: Vec<&'static str>,
    /// Whether the command requires `confirm` to be `true`.
    #[schema(example = false)]
    needs_confirmation: bool,
}

/// Types of commands that a device supports.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct CommandTypeList {
    /// Protocol of the device's last message. Null if the device has not sent a message yet.
    #[schema(example = "gt06")]
    pub(super) protocol: Option<String>,
    /// Command types of the protocol. All command types while the protocol is unknown.
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
