//! Queclink @Track, text and binary: trackers of the GL, GV and CV series and related models.
//!
//! `fri` and `eri` are named after the protocol's messages GTFRI (fixed report) and GTERI (expanded fixed report).

mod accessory;
mod alarm;
mod binary;
mod can;
mod decode;
mod encode;
mod eri;
mod event;
mod frame;
mod fri;
mod information;
mod model;
mod records;
mod sentence;

use crate::protocol::{Protocol, Transport};
use crate::sniff::Sniff;

/// Queclink in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "queclink",
    makers: "Queclink",
    port: 5004,
    transports: &[Transport::Tcp, Transport::Udp],
    commands_by_udp: true,
    max_frame: 4096,
    framer: || Box::new(frame::QueclinkFramer),
    decoder: || Box::new(decode::QueclinkDecoder),
    encode: encode::encode,
    alarms: &[alarm::KIND, alarm::BEHAVIOUR, alarm::WARNING, alarm::EVENT],
    sniff: |bytes| {
        let records = Sniff::prefix(bytes, frame::RECORDS);
        frame::HEADERS.iter().fold(records, |found, header| found.or(Sniff::prefix(bytes, header.as_bytes())))
    },
};
