//! Ruptela: FM, Pro, HCV, LCV and OBD units.

mod decode;
mod encode;
mod file;
mod frame;
mod parameter;
mod record;

use crate::protocol::{Protocol, Transport};

/// Ruptela in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "ruptela",
    makers: "Ruptela",
    port: 5046,
    transports: &[Transport::Tcp, Transport::Udp],
    commands_by_udp: true,
    max_frame: frame::MAX,
    framer: || Box::new(frame::RuptelaFramer),
    decoder: || Box::new(decode::RuptelaDecoder::default()),
    encode: encode::encode,
    alarms: &[parameter::PARAMETER],
    sniff: frame::sniff,
};
