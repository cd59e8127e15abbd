//! JT/T 808, the Chinese standard for vehicle terminals, editions of 2011, 2013 and 2019, and additions of makers.

mod alarm;
mod asset;
mod decode;
mod encode;
mod extension;
mod extra;
mod frame;
mod header;
mod location;
mod lock;
mod maker;
mod media;
mod packets;
mod transparent;

use crate::protocol::{Protocol, Transport};
use crate::sniff::Sniff;

/// JT/T 808 in the table of protocols.
pub const PROTOCOL: Protocol = Protocol {
    name: "jt808",
    makers: "Jimi, Huabao, Meiligao, AOVX and most Chinese makers",
    port: 5015,
    transports: &[Transport::Tcp, Transport::Udp],
    commands_by_udp: true,
    max_frame: 4096,
    framer: || Box::new(frame::Jt808Framer),
    decoder: || Box::<decode::Jt808Decoder>::default(),
    encode: encode::encode,
    alarms: alarm::ALL,
    sniff: |bytes| Sniff::prefix(bytes, b"\x7e"),
};
