//! Meitrack: text (AAA) and binary (CCC, CCE) reports of MVT, T, P and other units.

mod alarm;
mod binary;
mod decode;
mod element;
mod encode;
mod frame;
mod photo;
mod text;

use crate::protocol::{Protocol, Transport};

/// Meitrack in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "meitrack",
    makers: "Meitrack, Meiligao",
    port: 5020,
    transports: &[Transport::Tcp, Transport::Udp],
    commands_by_udp: true,
    max_frame: frame::MAX,
    framer: || Box::new(frame::MeitrackFramer),
    decoder: || Box::new(decode::MeitrackDecoder::default()),
    encode: encode::encode,
    alarms: &[alarm::EVENT],
    sniff: frame::sniff,
};
