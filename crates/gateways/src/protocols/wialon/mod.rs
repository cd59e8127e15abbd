//! Wialon IPS 1.1, 2.0 and 2.1: text, used by trackers of many makers and by software.

mod decode;
mod encode;
mod frame;
mod photo;
mod record;

use crate::protocol::{Protocol, Transport};

/// Wialon IPS in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "wialon-ips",
    makers: "Gurtam and the trackers that speak its protocol",
    port: 5039,
    transports: &[Transport::Tcp, Transport::Udp],
    commands_by_udp: true,
    max_frame: frame::MAX,
    framer: || Box::new(frame::WialonFramer),
    decoder: || Box::new(decode::WialonDecoder::default()),
    encode: encode::encode,
    alarms: &[record::PARAMETER],
    sniff: frame::sniff,
};
