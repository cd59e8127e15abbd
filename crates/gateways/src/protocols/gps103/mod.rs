//! GPS103: Coban TK103A and its clones by other makers.

mod alarm;
mod decode;
mod encode;
mod frame;
mod time;

use crate::protocol::{Protocol, Transport};

/// GPS103 in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "gps103",
    makers: "Coban, Xexun and others",
    port: 5001,
    transports: &[Transport::Tcp, Transport::Udp],
    commands_by_udp: true,
    max_frame: 2048,
    framer: || Box::new(frame::Gps103Framer),
    decoder: || Box::new(decode::Gps103Decoder),
    encode: encode::encode,
    alarms: &[alarm::KIND, alarm::PREFIX],
    sniff: frame::sniff,
};
