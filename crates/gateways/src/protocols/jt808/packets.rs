//! Assembles messages that arrive in several packets.

use std::collections::BTreeMap;

use crate::decoded::{DecodeError, FILE_MAX};

use super::header::{Message, Packet};

/// Maximum number of incomplete messages on one connection; a further one replaces the oldest.
const UNDER_WAY_MAX: usize = 2;
/// Maximum number of packets in one request: the body of a message has at most 1023 bytes.
const LISTED_MAX: usize = 125;

/// Approximate memory overhead of a packet, in bytes.
pub(super) const PACKET_OVERHEAD: usize = 64;

/// Messages of which some packets have arrived, oldest first.
#[derive(Debug, Default)]
pub(super) struct Packets(Vec<Upload>);

#[derive(Debug)]
struct Upload {
    kind: u16,
    /// The serial number of the first packet; those of the others follow it.
    first_serial: u16,
    total: u16,
    /// By their number, from 1.
    packets: BTreeMap<u16, Vec<u8>>,
    /// Whether packets were requested again.
    asked: bool,
    /// Whether it was too large. Its later packets are refused too.
    refused: bool,
}

/// The result of a packet.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Added {
    /// The body of the message, with the last missing packet.
    Whole(Vec<u8>),
    /// More packets are expected.
    Part,
    /// The device has sent all packets, and some are missing.
    Incomplete(Missing),
}

/// Numbers of the missing packets.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Missing {
    pub(super) first_serial: u16,
    /// The first packet, if it has arrived; it begins with the ID of the file.
    pub(super) beginning: Option<Vec<u8>>,
    pub(super) numbers: Vec<u16>,
}

impl Packets {
    /// Bytes of the packets that have arrived.
    pub(super) fn held_bytes(&self) -> usize {
        self.0
            .iter()
            .flat_map(|upload| upload.packets.values())
            .map(|bytes| bytes.len() + PACKET_OVERHEAD)
            .sum()
    }

    /// Adds a packet. A repeated packet is kept once.
    pub(super) fn add(&mut self, message: &Message<'_>, packet: Packet) -> Result<Added, DecodeError> {
        let first_serial = message.serial.wrapping_sub(packet.number.wrapping_sub(1));
        let is_same_message = |upload: &Upload| {
            (upload.kind, upload.total, upload.first_serial) == (message.kind, packet.total, first_serial)
        };
        let at = self.0.iter().position(is_same_message).unwrap_or_else(|| {
            if self.0.len() >= UNDER_WAY_MAX {
                self.0.remove(0);
            }
            let (kind, total) = (message.kind, packet.total);
            let packets = BTreeMap::new();
            self.0.push(Upload { kind, first_serial, total, packets, asked: false, refused: false });
            self.0.len() - 1
        });
        let held = self.held_bytes();
        let Some(upload) = self.0.get_mut(at) else { return Ok(Added::Part) };
        let bytes = message.body.rest();
        if !upload.packets.contains_key(&packet.number) {
            if upload.refused || held + bytes.len() + PACKET_OVERHEAD > FILE_MAX {
                upload.refused = true;
                upload.packets.clear();
                return Err(DecodeError::Malformed("the message is too large"));
            }
            upload.packets.insert(packet.number, bytes.to_vec());
        }
        if upload.packets.len() >= usize::from(upload.total) {
            let whole = self.0.remove(at).packets.into_values().flatten().collect();
            return Ok(Added::Whole(whole));
        }
        Ok(upload.state_after(packet.number))
    }
}

impl Upload {
    /// Requests missing packets after the last packet, and again after the last requested one.
    fn state_after(&mut self, number: u16) -> Added {
        let missing = || (1..=self.total).filter(|number| !self.packets.contains_key(number));
        let was_last = number == self.total || (self.asked && missing().all(|other| other < number));
        if !was_last {
            return Added::Part;
        }
        let numbers = missing().take(LISTED_MAX).collect();
        self.asked = true;
        let beginning = self.packets.get(&1).cloned();
        Added::Incomplete(Missing { first_serial: self.first_serial, beginning, numbers })
    }
}
