//! H02: text and binary, of many small trackers.

mod binary;
mod decode;
mod encode;
mod frame;
mod status;
mod text;

use crate::protocol::{Protocol, Transport};

/// H02 in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "h02",
    makers: "SinoTrack, Hangsheng and others",
    port: 5013,
    transports: &[Transport::Tcp, Transport::Udp],
    commands_by_udp: true,
    max_frame: 2048,
    framer: || Box::new(frame::H02Framer),
    decoder: || Box::new(decode::H02Decoder),
    encode: encode::encode,
    alarms: &[status::STATES],
    sniff: frame::sniff,
};
