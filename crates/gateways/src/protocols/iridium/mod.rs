//! Iridium SBD `DirectIP`: the gateway opens a connection for each message of a modem.

mod decode;
mod encode;
mod frame;

use crate::command::no_commands;
use crate::protocol::{Protocol, Transport};

pub use encode::{MtConfirmation, MtMessage, confirmation};

/// Iridium in the table of protocols. Messages to modems use a connection to the gateway, not this one.
pub const PROTOCOL: Protocol = Protocol {
    name: "iridium",
    makers: "Iridium SBD DirectIP",
    port: 10800,
    transports: &[Transport::Tcp],
    commands_by_udp: false,
    max_frame: frame::MAX_FRAME,
    framer: || Box::new(frame::IridiumFramer),
    decoder: || Box::new(decode::IridiumDecoder),
    encode: no_commands,
    alarms: &[crate::alarm::WORDS],
    sniff: frame::sniff,
};
