//! GT06: Concox, Jimi and the many trackers that copied them.

mod alarm;
mod battery;
mod decode;
mod encode;
mod extended;
mod frame;
mod located;
mod media;
mod message;
mod module;
mod network;
mod part;
mod variant;

use crate::protocol::{Protocol, Transport};
use crate::sniff::Sniff;

/// GT06 in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "gt06",
    makers: "Concox, Jimi, Wanway, Accurate and others",
    port: 5023,
    transports: &[Transport::Tcp, Transport::Udp],
    commands_by_udp: true,
    max_frame: 4096,
    framer: || Box::new(frame::Gt06Framer),
    decoder: || Box::new(decode::Gt06Decoder::default()),
    encode: encode::encode,
    alarms: &[alarm::EXTENDED, alarm::STATUS, alarm::CAMERA, alarm::MODULE, alarm::AZ735, alarm::CARD],
    sniff: |bytes| Sniff::prefix(bytes, b"\x78\x78").or(Sniff::prefix(bytes, b"\x79\x79")),
};
