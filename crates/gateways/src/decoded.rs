//! What decoding takes and gives.

use perigee_core::time::Timestamp;
use serde_json::{Map, Value as Json};

use crate::report::Report;
use crate::value::Value;

/// Bytes that a file of a device may have, as many as are stored.
pub(crate) const FILE_MAX: usize = perigee_core::devices::device_file::DeviceFile::BYTES_MAX;

/// Settings of a device that change what its bytes mean.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Options(Map<String, Json>);

impl Options {
    /// The options of a JSON object.
    pub const fn new(members: Map<String, Json>) -> Self {
        Self(members)
    }

    /// The members, to be changed.
    pub(crate) const fn members_mut(&mut self) -> &mut Map<String, Json> {
        &mut self.0
    }

    /// The same without an option.
    #[must_use]
    pub fn without(mut self, name: &str) -> Self {
        self.0.remove(name);
        self
    }

    /// The same with these members over its own.
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

/// What is known beside the bytes of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    /// Whether the connection has named its device already.
    pub known: bool,
    /// That name, where there is one.
    pub identifier: Option<&'a str>,
    /// The device's model, where one is set.
    pub model: Option<&'a str>,
    /// Settings of the device.
    pub options: &'a Options,
    /// The frame came by UDP.
    pub datagram: bool,
    /// The present, for replies that set the device's clock and for times without a date.
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

    /// The instant of what a device's clock showed, by its own zone or else the protocol's.
    pub fn utc(&self, local: Option<Timestamp>, protocol_minutes: i64) -> Option<Timestamp> {
        let minutes = self.zone_minutes().unwrap_or(protocol_minutes);
        local.map(|shown| shown.plus_seconds(-60 * minutes))
    }
}

/// A photo or another file that a device sent, complete.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UploadedFile {
    /// What the device called it, or a name made from its kind.
    pub name: String,
    /// When it was taken by the device's clock, where the frames tell.
    pub captured_at: Option<Timestamp>,
    /// Its bytes.
    pub bytes: Vec<u8>,
}

/// What a frame says.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoded {
    /// Names of the device in this frame; several are alternatives, tried in order.
    pub identifiers: Vec<String>,
    /// The network's own dedupe key; the same message delivered again has the same key. None: the protocol has none.
    pub key: Option<String>,
    /// The model, where the frame tells it.
    pub model: Option<String>,
    /// Minutes ahead of UTC by which times of its clock were read. None: the frame has none, or they are instants.
    pub zone_minutes: Option<i64>,
    /// Its records, in order.
    pub reports: Vec<Report>,
    /// What is to be sent back, each a write of its own, once the reports are stored.
    pub replies: Vec<Vec<u8>>,
    /// What the device said to a command, where that is no reading.
    pub answer: Option<String>,
    /// Files that this frame completed.
    pub files: Vec<UploadedFile>,
    /// What is wrong with the frame. With [`DecodeError::Checksum`] the rest is what it would have said.
    pub error: Option<DecodeError>,
}

impl Decoded {
    /// Whether the checksum of the frame is wrong: nothing of it is stored or answered.
    pub fn is_damaged(&self) -> bool {
        matches!(self.error, Some(DecodeError::Checksum { .. }))
    }

    /// A frame that said nothing.
    pub fn nothing() -> Self {
        Self::default()
    }

    /// A frame that named its device.
    pub fn identified(identifier: impl Into<String>) -> Self {
        Self { identifiers: vec![identifier.into()], ..Self::default() }
    }

    /// A frame with one record.
    pub fn one(report: Report) -> Self {
        Self { reports: vec![report], ..Self::default() }
    }

    /// What the device said to a command: of its own, or the reading `result`.
    pub fn command_answer(&self) -> Option<String> {
        let result = |report: &Report| match report.get("result")? {
            Value::Integer(number) => Some(number.to_string()),
            value => value.as_str().map(str::to_owned),
        };
        self.answer.clone().or_else(|| self.reports.iter().find_map(result))
    }

    /// Adds a reply.
    pub fn reply(&mut self, bytes: impl Into<Vec<u8>>) {
        self.replies.push(bytes.into());
    }

    /// Takes the times of reports for what the device's clock showed where its zone is set; they are UTC otherwise.
    #[must_use]
    pub fn in_zone(mut self, context: &Context<'_>) -> Self {
        self.zone_minutes = Some(context.zone_minutes().unwrap_or(0));
        for report in &mut self.reports {
            report.time = context.utc(report.time, 0);
        }
        self
    }

    /// Adds a reply.
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

/// Why a frame could not be read, or not be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// It ends before its last field.
    #[error("the message ends before its last field")]
    Short,
    /// Its checksum is wrong. A listener neither stores nor acknowledges such a frame: the device sends it again.
    #[error("the checksum of the frame is {sent:#06x}, but that of its bytes is {computed:#06x}")]
    Checksum {
        /// As in the frame.
        sent: u16,
        /// Of the frame's bytes.
        computed: u16,
    },
    /// A part does not conform to the protocol.
    #[error("the message is malformed: {0}")]
    Malformed(&'static str),
    /// Decoding would take more memory or work than one request may.
    #[error("the request has too much content to be decoded at once; send it in parts")]
    TooLarge,
    /// The protocol has no message of this type, or it is not supported.
    #[error("the message type {0:#x} is unknown")]
    UnknownType(u32),
    /// Neither the message nor the connection identifies a device.
    #[error("the connection has not identified its device")]
    Unidentified,
    /// The device has a password, and the connection has not given it. The connection has no device from then on.
    #[error("the password is not the one in the settings of the device")]
    Password,
    /// It is encrypted, and the server has no key. The sender gets this error, and the raw message is stored.
    #[error("the message is encrypted: remove the encryption key in the app, and use HTTPS instead")]
    Encrypted,
    /// A latitude or longitude is out of range; no location is stored for it.
    #[error("a position is invalid: its latitude or longitude is out of range")]
    NotOnEarth,
    /// No protocol was given, and none is recognised from the bytes.
    #[error("no protocol is recognised from the first bytes; give the protocol")]
    UnknownProtocol,
}

/// Reads the frames of one connection, or of one sender of datagrams.
pub trait Decoder: Send {
    /// Reads one frame as it leaves the framer.
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded;

    /// Identifiers in the beginning of a frame whose rest has not arrived. None for protocols whose devices log in by a short
    /// frame first.
    fn identifiers_of_beginning(&self, _beginning: &[u8]) -> Vec<String> {
        Vec::new()
    }

    /// Bytes that it keeps of files and messages whose parts have not all arrived.
    fn held_bytes(&self) -> usize {
        0
    }

    /// Forgets these parts. A device that goes on sending them is asked for the rest, or begins again.
    fn drop_held(&mut self) {}
}
