//! The input and output of decoding.

use perigee_core::time::Timestamp;
use serde_json::{Map, Value as Json};

use crate::report::Report;
use crate::value::Value;

/// Maximum size of a file from a device, in bytes: the same as in the store.
pub(crate) const FILE_MAX: usize = perigee_core::devices::device_file::DeviceFile::BYTES_MAX;

/// Decoding settings of a device, by name.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(Map<String, Json>);

impl Options {
    /// Options from the members of a JSON object.
    pub const fn new(members: Map<String, Json>) -> Self {
        Self(members)
    }

    /// The members, for changes.
    pub(crate) const fn members_mut(&mut self) -> &mut Map<String, Json> {
        &mut self.0
    }

    /// The same options without this one.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// Adds the options of `over`, which take precedence.
    #[must_use]
    pub fn overlaid(mut self, over: &Self) -> Self {
        self.0.extend(over.0.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }

    /// The value of an option.
    pub fn get(&self, name: &str) -> Option<&Json> {
        self.0.get(name)
    }

    /// Whether the option is `true`.
    pub fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Json::as_bool).unwrap_or(false)
    }

    /// The whole number of an option.
    pub fn integer(&self, name: &str) -> Option<i64> {
        self.0.get(name)?.as_i64()
    }

    /// The text of an option.
    pub fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str()
    }
}

/// Facts about a frame besides its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Whether an earlier frame of the connection identified the device.
    pub known: bool,
    /// The identifier from that frame.
    pub identifier: Option<&'a str>,
    /// The model that is set for the device.
    pub model: Option<&'a str>,
    /// Settings of the device.
    pub options: &'a Options,
    /// Whether the frame was received by UDP.
    pub datagram: bool,
    /// The current time, for replies that set the device's clock and for times without a date.
    pub now: Timestamp,
}

impl Context<'_> {
    /// Whether the device is of this model, in any letter case.
    pub fn is_model(&self, model: &str) -> bool {
        self.model.is_some_and(|set| set.eq_ignore_ascii_case(model))
    }

    /// Minutes that the device's clock is ahead of UTC, by the option `timeZoneMinutes`.
    pub fn zone_minutes(&self) -> Option<i64> {
        self.options.integer("timeZoneMinutes").filter(|minutes| minutes.abs() <= 14 * 60)
    }

    /// Converts the local time of a device to UTC, by the zone of the device or else of the protocol.
    pub fn utc(&self, local: Option<Timestamp>, protocol_minutes: i64) -> Option<Timestamp> {
        let minutes = self.zone_minutes().unwrap_or(protocol_minutes);
        local.map(|shown| shown.plus_seconds(-60 * minutes))
    }
}

/// A complete photo or other file that a device uploaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFile {
    /// The name from the device, or one derived from the kind of file.
    pub name: String,
    /// Time of capture by the device's clock, if the frames contain it.
    pub captured_at: Option<Timestamp>,
    /// Content of the file, all parts together.
    pub bytes: Vec<u8>,
}

/// The decoded content of a frame.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// Identifiers of the device in this frame; several are alternatives, tried in order.
    pub identifiers: Vec<String>,
    /// Deduplication key of the network: the same message delivered again has the same key. None if the protocol has none.
    pub key: Option<String>,
    /// The model, if the frame contains it.
    pub model: Option<String>,
    /// Offset from UTC, in minutes, with which local times of the frame were read. None if it has none, or if its times are UTC.
    pub zone_minutes: Option<i64>,
    /// The reports, in the order of the frame.
    pub reports: Vec<Report>,
    /// Replies to send once the reports are stored, each in a write of its own.
    pub replies: Vec<Vec<u8>>,
    /// The answer of the device to a command, if it is not a reading.
    pub answer: Option<String>,
    /// Text that a person wrote, for the conversation with the device.
    pub text: Option<String>,
    /// Files that this frame completed.
    pub files: Vec<UploadedFile>,
    /// The error of the frame. With [`DecodeError::Checksum`] the other members have the content as if the frame were
    /// intact.
    pub error: Option<DecodeError>,
}

impl Decoded {
    /// Whether the checksum of the frame is wrong. The content of such a frame is not stored, and the frame is not
    /// acknowledged.
    pub fn is_damaged(&self) -> bool {
        matches!(self.error, Some(DecodeError::Checksum { .. }))
    }

    /// A frame without content.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// A frame that only identifies its device.
    pub fn identified(identifier: impl Into<String>) -> Self {
        Self { identifiers: vec![identifier.into()], ..Self::default() }
    }

    /// A frame with one report.
    pub fn one(report: Report) -> Self {
        Self { reports: vec![report], ..Self::default() }
    }

    /// The answer of the device to a command: `answer`, or the reading `result`.
    pub fn command_answer(&self) -> Option<String> {
        let result = |report: &Report| match report.get("result")? {
            Value::Integer(number) => Some(number.to_string()),
            value => value.as_str().map(str::to_owned),
        };
        self.answer.clone().or_else(|| self.reports.iter().find_map(result))
    }

    /// Adds a reply, sent after everything of the message is stored.
    pub fn reply(&mut self, bytes: impl Into<Vec<u8>>) {
        self.replies.push(bytes.into());
    }

    /// Converts the times of reports from the time zone that is set for the device; without one they are UTC.
    #[must_use]
    pub fn in_zone(mut self, context: &Context<'_>) -> Self {
        self.zone_minutes = Some(context.zone_minutes().unwrap_or(0));
        for report in &mut self.reports {
            report.time = context.utc(report.time, 0);
        }
        self
    }

    /// The same with a further reply.
    #[must_use]
    pub fn with_reply(mut self, bytes: impl Into<Vec<u8>>) -> Self {
        self.reply(bytes);
        self
    }
}

impl From<Result<Decoded, DecodeError>> for Decoded {
    fn from(result: Result<Decoded, DecodeError>) -> Self {
        result.unwrap_or_else(|error| Self { error: Some(error), ..Self::default() })
    }
}

/// Why a frame could not be decoded, or was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It ends before its last field.
    #[error("the message ends before its last field")]
    Short,
    /// Its checksum is wrong. A listener stores only the raw message of such a frame and does not acknowledge it, so
    /// that the device sends it again.
    #[error(
        "the frame is damaged: its checksum is {sent:#06x}, but {computed:#06x} was computed from its bytes"
    )]
    Checksum {
        /// The checksum in the frame.
        sent: u16,
        /// The checksum computed from the bytes of the frame.
        computed: u16,
    },
    /// A part does not conform to the protocol.
    #[error("the message is malformed: {0}")]
    Malformed(&'static str),
    /// Decoding would use more memory or work than one request is allowed.
    #[error("the request has too much content to be decoded at once; send it in parts")]
    TooLarge,
    /// The protocol has no message of this type, or it is not supported.
    #[error("the message type {0:#x} is unknown")]
    UnknownType(u32),
    /// Neither the message nor the connection identifies a device.
    #[error("the connection sent data before a login that identifies the device")]
    Unidentified,
    /// The device has a password, and the connection did not send it. The connection has no device from then on.
    #[error("the password differs from \"password\" in the decoding settings of the device")]
    Password,
    /// It is encrypted, and the server has no key. The sender gets this error, and the raw message is stored.
    #[error("the message is encrypted: remove the encryption key in the app, and use HTTPS instead")]
    Encrypted,
    /// A latitude or longitude is out of range; no location is stored for it.
    #[error("a position is invalid: its latitude or longitude is out of range")]
    NotOnEarth,
    /// No protocol was given, and none is recognised from the bytes.
    #[error("the first bytes do not match any protocol; give the protocol")]
    UnknownProtocol,
}

/// Decodes the frames of one connection, or of one sender of datagrams.
pub trait Decoder: Send {
    /// Decodes one frame from the framer.
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded;

    /// Identifiers in the beginning of a frame whose rest has not arrived. None for protocols whose devices log in by a short
    /// frame first.
    fn identifiers_of_beginning(&self, _beginning: &[u8]) -> Vec<String> {
        Vec::new()
    }

    /// Bytes held for incomplete files and messages.
    fn held_bytes(&self) -> usize {
        0
    }

    /// Drops incomplete files and messages. A device that continues one is asked for the missing parts, or starts over.
    fn drop_held(&mut self) {}
}
