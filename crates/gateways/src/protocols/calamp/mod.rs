//! LM Direct: datagrams of the maker's `LMU` units.

mod decode;
mod encode;
mod frame;
mod report;

use crate::framer::NoStream;
use crate::protocol::{Protocol, Transport};

/// `CalAmp` in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "calamp",
    makers: "CalAmp",
    port: 5082,
    transports: &[Transport::Udp],
    commands_by_udp: true,
    max_frame: 2048,
    framer: || Box::new(NoStream),
    decoder: || Box::new(decode::CalampDecoder),
    encode: encode::encode,
    alarms: &[],
    sniff: frame::sniff,
};
