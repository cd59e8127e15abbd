//! The table of protocols: one line each.

use crate::alarm::AlarmTable;
use crate::command::{Command, EncodeError, Target};
use crate::decoded::Decoder;
use crate::framer::Framer;
use crate::protocols;
use crate::sniff::Sniff;

/// How a protocol is carried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A stream.
    Tcp,
    /// Datagrams, each a frame.
    Udp,
    /// A stream in TLS.
    Tls,
}

/// A protocol and how it is spoken.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Its name in settings and on the command line.
    pub name: &'static str,
    /// Who makes devices that speak it.
    pub makers: &'static str,
    /// The port that menus of such trackers usually name.
    pub port: u16,
    /// How it is carried.
    pub transports: &'static [Transport],
    /// Whether commands can be sent in datagrams as they are in a stream.
    pub commands_by_udp: bool,
    /// Bytes a frame may have; longer ones are passed over.
    pub max_frame: usize,
    /// Makes a framer for a new connection.
    pub framer: fn() -> Box<dyn Framer>,
    /// Makes a decoder for a new connection.
    pub decoder: fn() -> Box<dyn Decoder>,
    /// Writes a command.
    pub encode: fn(&Command, &Target<'_>) -> Result<Vec<u8>, EncodeError>,
    /// Its alarm codes, by the field in which they stand.
    pub alarms: &'static [AlarmTable],
    /// Judges the first bytes of a connection.
    pub sniff: fn(&[u8]) -> Sniff,
}

/// Every protocol, in the order in which first bytes are judged: what is sure by a fixed prefix comes first.
pub const PROTOCOLS: &[Protocol] = &[
    protocols::gt06::PROTOCOL,
    protocols::teltonika::PROTOCOL,
    protocols::queclink::PROTOCOL,
    protocols::jt808::PROTOCOL,
    protocols::meitrack::PROTOCOL,
    protocols::h02::PROTOCOL,
    protocols::gps103::PROTOCOL,
    protocols::suntech::PROTOCOL,
    protocols::tk103::PROTOCOL,
    protocols::wialon::PROTOCOL,
    protocols::calamp::PROTOCOL,
    protocols::iridium::PROTOCOL,
    protocols::ruptela::PROTOCOL,
];

/// The protocol of this name.
pub fn find_protocol(name: &str) -> Option<&'static Protocol> {
    PROTOCOLS.iter().find(|protocol| protocol.name == name)
}
