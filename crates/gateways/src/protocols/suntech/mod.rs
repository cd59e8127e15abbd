//! Suntech: ST and SA units, in text and binary, with fixed forms and with report maps.

mod alarm;
mod binary;
mod classic;
mod collar;
mod decode;
mod encode;
mod frame;
mod mapped;
mod optional_fields;
mod zip;

use crate::protocol::{Protocol, Transport};

/// Suntech in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "suntech",
    makers: "Suntech",
    port: 5011,
    transports: &[Transport::Tcp, Transport::Udp],
    commands_by_udp: true,
    max_frame: frame::MAX,
    framer: || Box::new(frame::SuntechFramer),
    decoder: || Box::new(decode::SuntechDecoder),
    encode: encode::encode,
    alarms: &[alarm::EMERGENCY, alarm::ALERT, alarm::COLLAR],
    sniff: frame::sniff,
};
