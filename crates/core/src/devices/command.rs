//! Commands to devices: their types, values and states.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::id::{AccountId, CommandId, DeviceId, UserId};
use crate::time::Timestamp;

/// The values that a command accepts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    /// A whole number in these bounds, also written as text.
    Whole(i64, i64),
    /// A text of at most this many bytes.
    Text(usize),
    /// True or false.
    Flag,
}

macro_rules! command_kinds {
    ($(#[doc = $description:literal] $variant:ident = $name:literal $(, $value:literal: $form:expr)*;)+) => {
        /// The type of a command: the action of the device.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum CommandKind {
            $(#[doc = $description] $variant,)+
        }

        impl CommandKind {
            /// Every kind, in the order of the API document.
            pub const ALL: &'static [Self] = &[$(Self::$variant),+];

            /// Its name in the API and in the store.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// One sentence that describes the action of the device.
            pub fn description(self) -> &'static str {
                match self { $(Self::$variant => $description,)+ }.trim()
            }

            fn forms(self) -> &'static [(&'static str, Form)] {
                match self { $(Self::$variant => &[$(($value, $form)),*],)+ }
            }
        }
    };
}

command_kinds! {
    /// Reports its position now.
    PositionSingle = "positionSingle";
    /// Reports its position every `frequency` seconds.
    PositionPeriodic = "positionPeriodic", "frequency": Form::Whole(1, 86_400);
    /// Stops periodic reports.
    PositionStop = "positionStop";
    /// Stops the engine. Requires `confirm`.
    EngineStop = "engineStop";
    /// Allows the engine to run again. Requires `confirm`.
    EngineResume = "engineResume";
    /// Switches the output `index` on (`data` is 1) or off (`data` is 0).
    OutputControl = "outputControl", "index": Form::Whole(1, 8), "data": Form::Whole(0, 1);
    /// Restarts.
    RebootDevice = "rebootDevice";
    /// Shows the text `message` to the driver.
    Message = "message", "message": Form::Text(500);
    /// Sends the text `message` as SMS to `phone`.
    SendSms = "sendSms", "phone": Form::Text(30), "message": Form::Text(160);
    /// Takes a photo with the camera `index` and uploads it.
    RequestPhoto = "requestPhoto", "index": Form::Whole(0, 16);
    /// Arms its alarm.
    AlarmArm = "alarmArm";
    /// Disarms its alarm.
    AlarmDisarm = "alarmDisarm";
    /// Switches its SOS button on or off, by `enable`.
    AlarmSos = "alarmSos", "enable": Form::Flag;
    /// Sets the telephone number `phone` that it calls on SOS.
    SosNumber = "sosNumber", "index": Form::Whole(0, 10), "phone": Form::Text(30);
    /// Sets its odometer to `data` metres.
    SetOdometer = "setOdometer", "data": Form::Whole(0, 4_294_967_295);
    /// Reports to another server, `server` and `port`, from now on.
    SetConnection = "setConnection", "server": Form::Text(100), "port": Form::Whole(1, 65_535);
    /// Answers with its versions.
    GetVersion = "getVersion";
    /// Answers with its status.
    GetDeviceStatus = "getDeviceStatus";
    /// Answers with its name.
    DeviceIdentification = "deviceIdentification";
    /// Executes any other command: the text `data` in the protocol's syntax, or the bytes `hex`, unchanged.
    Custom = "custom", "data": Form::Text(Self::TEXT_MAX), "hex": Form::Text(2 * Self::TEXT_MAX);
}

impl CommandKind {
    /// The longest text of a value, in bytes. Protocols take less.
    pub const TEXT_MAX: usize = 1_024;

    /// The kind with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|kind| kind.name() == name)
    }

    /// Names of the values that it takes; any may take `devicePassword` too.
    pub fn values(self) -> impl Iterator<Item = &'static str> {
        self.forms().iter().map(|(name, _)| *name)
    }

    /// Whether this value must be given. Without `index`, the first camera or telephone number is meant.
    fn requires(self, name: &str) -> bool {
        match self {
            Self::Custom => false,
            Self::RequestPhoto | Self::SosNumber => name != "index",
            _ => true,
        }
    }

    /// Whether the command could hurt somebody, so that a person has to confirm it.
    pub const fn needs_confirmation(self) -> bool {
        matches!(self, Self::EngineStop | Self::EngineResume)
    }

    /// Values that every protocol with this kind can encode, to find out whether a protocol has the kind.
    pub fn sample(self) -> Map<String, Value> {
        let value = |(name, form): &(&str, Form)| {
            let value = match form {
                Form::Whole(least, _) => Value::from((*least).max(1)),
                Form::Text(_) => Value::from("00"),
                Form::Flag => Value::from(true),
            };
            ((*name).to_owned(), value)
        };
        self.forms().iter().filter(|(name, _)| *name != "hex").map(value).collect()
    }

    /// Checks values by name and range, and converts numbers that are written as text. The error has the name of the
    /// value and the accepted values.
    pub fn read(self, values: &mut Map<String, Value>) -> Result<(), ValueError> {
        for (name, value) in values.iter_mut() {
            let known = self.forms().iter().find(|(known, _)| *known == name.as_str()).map(|(_, form)| *form);
            let form = known.or((name == "devicePassword").then_some(Form::Text(30)));
            let Some(form) = form else {
                let mut names: Vec<&str> = self.values().collect();
                names.push("devicePassword");
                return Err(ValueError::new(
                    name,
                    format!("is not a value of this command, which accepts {}", names.join(", ")),
                ));
            };
            form.read(value).map_err(|problem| ValueError::new(name, problem))?;
        }
        let missing =
            self.forms().iter().find(|(name, _)| self.requires(name) && !values.contains_key(*name));
        if let Some((name, form)) = missing {
            return Err(ValueError::new(name, format!("is required: {}", form.accepted())));
        }
        if self == Self::Custom && !(values.contains_key("data") ^ values.contains_key("hex")) {
            return Err(ValueError::new("data", "must be given, or \"hex\" instead".to_owned()));
        }
        let is_hex =
            |text: &str| text.len().is_multiple_of(2) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if values.get("hex").and_then(Value::as_str).is_some_and(|text| text.is_empty() || !is_hex(text)) {
            return Err(ValueError::new("hex", "must be pairs of hexadecimal digits".to_owned()));
        }
        Ok(())
    }
}

impl Form {
    /// The accepted values, in words.
    fn accepted(self) -> String {
        match self {
            Self::Whole(least, most) => format!("a whole number from {least} to {most}"),
            Self::Text(most) => format!("a text of 1 to {most} bytes"),
            Self::Flag => "true or false".to_owned(),
        }
    }

    fn read(self, value: &mut Value) -> Result<(), String> {
        let fits = match self {
            Self::Whole(least, most) => {
                let number = value.as_i64().or_else(|| value.as_str()?.parse().ok());
                let number = number.filter(|number| (least..=most).contains(number));
                if let Some(number) = number {
                    *value = number.into();
                }
                number.is_some()
            }
            Self::Text(most) => value
                .as_str()
                .is_some_and(|text| !text.is_empty() && text.len() <= most && !text.contains('\0')),
            Self::Flag => value.is_boolean(),
        };
        if fits { Ok(()) } else { Err(format!("must be {}", self.accepted())) }
    }
}

/// The reason for which a value of a command is refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} {problem}")]
pub struct ValueError {
    /// The name of the value.
    pub name: String,
    /// Why it is refused, with the accepted values.
    pub problem: String,
}

impl ValueError {
    fn new(name: &str, problem: String) -> Self {
        Self { name: name.to_owned(), problem }
    }
}

/// The state of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum CommandState {
    /// It waits for its device to connect.
    Queued,
    /// It was written to the device's connection.
    Sent,
    /// The device answered it.
    Answered,
    /// It was not sent and will not be; the error has the reason.
    Failed,
    /// Its device did not connect before the deadline.
    Expired,
}

impl CommandState {
    /// Every state, in the order of the API document.
    pub const ALL: [Self; 5] = [Self::Queued, Self::Sent, Self::Answered, Self::Failed, Self::Expired];

    /// Its name in the API and in the store.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Queued => "queued",
            Self::Sent => "sent",
            Self::Answered => "answered",
            Self::Failed => "failed",
            Self::Expired => "expired",
        }
    }

    /// The state with this name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|state| state.name() == name)
    }
}

/// A command to be queued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NewCommand {
    /// The type of the command.
    pub kind: CommandKind,
    /// Its values as a JSON object, as text.
    pub values: String,
    /// It is not sent after this instant.
    pub deadline: Timestamp,
}

/// A command as stored.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Command {
    /// Assigned by the service; later commands have larger ids.
    pub id: CommandId,
    /// The account of the device.
    pub account: AccountId,
    /// The device that the command is for.
    pub device: DeviceId,
    /// The type of the command.
    pub kind: CommandKind,
    /// Its values as a JSON object, as text.
    pub values: String,
    /// The state of the command.
    pub state: CommandState,
    /// The user who sent it; `None` for the operator.
    pub created_by: Option<UserId>,
    /// When it was created.
    pub creation: Timestamp,
    /// It is not sent after this instant.
    pub deadline: Timestamp,
    /// The protocol in which it was sent.
    pub protocol: Option<String>,
    /// When it was sent.
    pub sent_at: Option<Timestamp>,
    /// When it was answered, failed or expired.
    pub ended_at: Option<Timestamp>,
    /// The answer of the device, up to [`Self::ANSWER_MAX`] characters.
    pub answer: Option<String>,
    /// Why it failed.
    pub error: Option<String>,
}

impl Command {
    /// Maximum number of commands of one device that may be queued at a time.
    pub const QUEUED_MAX: u32 = 100;
    /// Maximum number of commands of one device that are kept, the newest ones.
    pub const KEPT_MAX: u32 = 1_000;
    /// Maximum number of characters of an answer or an error that are stored.
    pub const ANSWER_MAX: usize = 1_000;
    /// A message of a device later than this after a command is not an answer to it, in milliseconds: ten minutes.
    pub const ANSWER_WITHIN_MS: i64 = 10 * 60 * 1000;
    /// The longest time to a deadline, in seconds: 30 days.
    pub const DEADLINE_MAX_S: i64 = 30 * 24 * 60 * 60;
    /// Default time to the deadline, in seconds: a day.
    pub const DEADLINE_S: i64 = 24 * 60 * 60;
}

/// The outcome for a command that was taken out of the queue and not sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CommandEnd {
    /// It cannot be sent, for this reason.
    Failed(String),
    /// The connection broke while it was written: it is sent again.
    Unsent,
}

/// Which commands to list; all conditions must be true.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CommandFilter {
    /// Only commands to this device.
    pub device: Option<DeviceId>,
    /// Only commands in this state.
    pub state: Option<CommandState>,
}

macro_rules! as_text {
    ($($type:ident)+) => {$(
        impl Serialize for $type {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.name())
            }
        }

        impl<'de> Deserialize<'de> for $type {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str>>::deserialize(deserializer)?;
                Self::named(&text).ok_or_else(|| serde::de::Error::custom("not the name of a command type"))
            }
        }
    )+};
}

as_text!(CommandKind CommandState);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_checked_by_name_and_range() {
        let check = |kind: CommandKind, values: Value, problem: Option<&str>| {
            let mut read = values.as_object().unwrap().clone();
            let found = kind.read(&mut read).err().map(|error| error.to_string());
            assert_eq!(found.is_some(), problem.is_some(), "{values}: {found:?}");
            assert!(found.unwrap_or_default().contains(problem.unwrap_or_default()), "{values}");
        };
        check(CommandKind::PositionPeriodic, json!({"frequency": 60}), None);
        check(CommandKind::PositionPeriodic, json!({"frequency": "60"}), None);
        check(CommandKind::PositionPeriodic, json!({"frequency": 0}), Some("1 to 86400"));
        check(
            CommandKind::PositionPeriodic,
            json!({}),
            Some("frequency is required: a whole number from 1 to 86400"),
        );
        check(CommandKind::SendSms, json!({"phone": "+34600123456"}), Some("message is required"));
        check(CommandKind::AlarmSos, json!({}), Some("enable is required: true or false"));
        check(CommandKind::RequestPhoto, json!({}), None);
        check(CommandKind::PositionPeriodic, json!({"frequency": 60, "seconds": 60}), Some("seconds"));
        check(CommandKind::EngineStop, json!({"devicePassword": "123456"}), None);
        check(CommandKind::AlarmSos, json!({"enable": 1}), Some("true or false"));
        check(CommandKind::Custom, json!({}), Some("must be given"));
        check(CommandKind::Custom, json!({"data": "a", "hex": "00"}), Some("must be given"));
        check(CommandKind::Custom, json!({"hex": "0g"}), Some("hexadecimal"));
        check(CommandKind::Custom, json!({"data": "a\0b"}), Some("1 to 1024 bytes"));
    }

    #[test]
    fn numbers_may_be_written_as_text() {
        let mut values = json!({"frequency": "60", "devicePassword": "0001"}).as_object().unwrap().clone();
        CommandKind::PositionPeriodic.read(&mut values).unwrap();
        assert_eq!(Value::Object(values), json!({"frequency": 60, "devicePassword": "0001"}));
    }

    #[test]
    fn names_are_read_back_and_samples_fit() {
        for kind in CommandKind::ALL {
            assert_eq!(CommandKind::named(kind.name()), Some(*kind));
            assert_eq!(kind.read(&mut kind.sample()), Ok(()), "{kind:?}");
        }
        for state in CommandState::ALL {
            assert_eq!(CommandState::named(state.name()), Some(state));
        }
    }
}
