//! TK103: sentences in parentheses, of Xexun, GPS Tracker and many others.

mod battery;
mod decode;
mod encode;
mod frame;
mod kind;
mod network;
mod position;

use crate::protocol::{Protocol, Transport};

/// TK103 in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "tk103",
    makers: "Xexun, TK Star, Accurate and others",
    port: 5002,
    transports: &[Transport::Tcp, Transport::Udp],
    commands_by_udp: true,
    max_frame: frame::MAX,
    framer: || Box::new(frame::Tk103Framer),
    decoder: || Box::new(decode::Tk103Decoder),
    encode: encode::encode,
    alarms: &[kind::KIND, kind::ALARM, kind::LISTED],
    sniff: frame::sniff,
};
