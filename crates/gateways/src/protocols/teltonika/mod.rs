//! Teltonika: codecs 8, 8 extended and 16 for records, 12 to 15 for commands, and the old codec of GH3000.

mod alarm;
mod beacon;
mod decode;
mod encode;
mod frame;
mod gh3000;
mod parameter;
mod photo;
mod record;
mod serial;

use crate::protocol::{Protocol, Transport};
use crate::sniff::Sniff;

/// Teltonika in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "teltonika",
    makers: "Teltonika",
    port: 5027,
    transports: &[Transport::Tcp, Transport::Udp, Transport::Tls],
    // Its codecs for commands are defined for streams.
    commands_by_udp: false,
    max_frame: 8192,
    framer: || Box::new(frame::TeltonikaFramer),
    decoder: || Box::new(decode::TeltonikaDecoder::default()),
    encode: encode::encode,
    alarms: &[alarm::ELEMENTS, alarm::GREEN_DRIVING, alarm::GEOFENCE, alarm::GH3000],
    sniff: |bytes| Sniff::prefix(bytes, b"\x00\x0f").or(Sniff::prefix(bytes, b"\x00\x00\x00\x00")),
};
