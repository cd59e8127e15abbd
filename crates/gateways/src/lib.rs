//! Tracker and satellite protocols: bytes to reports and commands to bytes.
//!
//! Nothing here reads a clock, a socket or a store. A [`Framer`] splits a stream into frames, a [`Decoder`] decodes one
//! frame, [`PROTOCOLS`] lists the supported protocols. The README of this crate describes how to add a protocol.
#![cfg_attr(
    not(test),
    deny(
        clippy::indexing_slicing,
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::as_conversions,
        clippy::panic
    )
)]

mod alarm;
mod alarm_document;
mod command;
mod decode_budget;
mod decoded;
mod device_option;
mod feed;
mod feed_json;
mod feed_option;
pub mod feeds;
mod file_parts;
mod framer;
mod line;
mod location;
pub mod mapping;
mod model;
pub mod notation;
pub mod payload;
mod pins;
mod protocol;
pub mod protocols;
mod report;
mod sbd;
mod secret;
mod send;
pub mod setting;
mod sniff;
mod stream;
pub mod template;
mod value;

pub use alarm::{AlarmCode, AlarmTable, Notation, Raises};
pub use alarm_document::alarm_document;
pub use command::{Command, EncodeError, Target, encode_command, no_commands, supported_commands};
pub use decode_budget::DecodeBudget;
pub use decoded::{Context, DecodeError, Decoded, Decoder, Options, UploadedFile};
pub use device_option::{DEVICE_OPTIONS, DeviceOption, OptionKind, find_option, read_decoding};
pub use feed::{
    Delivery, FEEDS, Feed, FeedContext, FeedDecoded, FeedMessage, FeedOutcome, FeedReply, FeedRequest,
    Refused, SENDERS, SosStep, basic_check, find_feed, no_check,
};
pub use feed_json::feed_json;
pub use feed_option::{FeedOption, FeedOptionKind, check_given_options, check_options, host_and_port};
pub use framer::{Framer, LineFramer, NoStream, Step, delimited, find, skip_to};
pub use line::{LineDecoder, LineDefaults, decoded_json};
pub use location::{alert_name, position_error, report_json, to_location, to_readings};
pub use model::{MODELS, Model, find_model};
pub use pins::Pins;
pub use protocol::{PROTOCOLS, Protocol, Transport, find_protocol};
pub use report::{AccessPoint, CellTower, KNOT_KMH, MILE_KMH, Position, Report};
pub use send::{
    Address, DOWNLINKS, Downlink, HttpPost, Outgoing, PARTS_MAX, ProviderAnswer, ProviderCall, TcpExchange,
    TextLimit, Verdict, cannot_send, find_downlink,
};
pub use sniff::{Sniff, sniff};
pub use stream::FrameBuffer;
pub use value::{Name, Value};
