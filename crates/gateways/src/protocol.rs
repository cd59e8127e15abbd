//! The table of protocols: one line each.

use crate::alarm::AlarmTable;
use crate::command::{Command, EncodeError, Target};
use crate::decoded::Decoder;
use crate::framer::Framer;
use crate::protocols;
use crate::sniff::Sniff;

/// The transport of a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// A stream, which a framer splits.
    Tcp,
    /// Datagrams, each a frame.
    Udp,
    /// A stream in TLS.
    Tls,
}

/// A protocol: its framer, decoder and encoder.
#[derive(Clone, Copy, Debug)]
pub struct Protocol {
    /// Its name in settings and on the command line.
    pub name: &'static str,
    /// Makers of devices that use it.
    pub makers: &'static str,
    /// The port that is usual for such trackers.
    pub port: u16,
    /// Transports over which its trackers connect.
    pub transports: &'static [Transport],
    /// Whether commands can be sent in datagrams as they are in a stream.
    pub commands_by_udp: bool,
    /// Maximum size of a frame, in bytes; longer frames are skipped.
    pub max_frame: usize,
    /// Makes a framer for a new connection.
    pub framer: fn() -> Box<dyn Framer>,
    /// Makes a decoder for a new connection.
    pub decoder: fn() -> Box<dyn Decoder>,
    /// Encodes a command, or says why that is not possible.
    pub encode: fn(&Command, &Target<'_>) -> Result<Vec<u8>, EncodeError>,
    /// Its alarm codes, by the field that contains them.
    pub alarms: &'static [AlarmTable],
    /// Recognises the protocol by the first bytes of a connection.
    pub sniff: fn(&[u8]) -> Sniff,
}

/// All protocols, in the order in which first bytes are examined: those with a fixed prefix come first.
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
