//! The header of a JT/T 808 message, and answers to it.

use crate::decoded::DecodeError;
use crate::notation::checksum::xor;
use crate::notation::reader::{Reader, hex_digits};

use super::frame::escape;

/// The parts of a message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    pub(super) kind: u16,
    /// Whether it requests an answer, on locks.
    pub(super) wants_answer: bool,
    /// The protocol version, which only messages of the 2019 edition have.
    pub(super) version: Option<u8>,
    /// The identifier of the device as it was sent: digits, or a binary terminal number.
    pub(super) name: &'a [u8],
    pub(super) serial: u16,
    /// The packet of a longer message, if it is one.
    pub(super) packet: Option<Packet>,
    pub(super) body: Reader<'a>,
    /// The checksum in the frame and the computed one, if they differ.
    pub(super) mismatch: Option<(u8, u8)>,
}

/// The number of a packet in a message that did not fit into one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Packet {
    pub(super) total: u16,
    /// Counted from 1 to `total`.
    pub(super) number: u16,
}

/// Positions of locks have a serial number of one byte.
pub(super) const LOCK: u16 = 0x5501;
pub(super) const LOCK_BLIND: u16 = 0x5502;

impl<'a> Message<'a> {
    pub(super) fn read(frame: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(frame);
        let delimiter = reader.u8()?;
        let (kind, properties) = (reader.u16()?, reader.u16()?);
        let version = if properties & 0x4000 == 0 { None } else { Some(reader.u8()?) };
        let name = reader.take(match (version, delimiter) {
            (Some(_), _) => 10,
            (None, 0xe7) => 7,
            (None, _) => 6,
        })?;
        let serial =
            if matches!(kind, LOCK | LOCK_BLIND) { u16::from(reader.u8()?) } else { reader.u16()? };
        let length = reader.remaining().checked_sub(2).ok_or(DecodeError::Short)?;
        let mut body = reader.sub(length)?;
        let packet = if properties & 0x2000 == 0 { None } else { read_packet(&mut body) };
        let sent = reader.u8()?;
        let computed = xor(frame.get(1..frame.len().saturating_sub(2)).unwrap_or_default());
        let mismatch = (sent != computed).then_some((sent, computed));
        let wants_answer = properties & 0x8000 != 0;
        Ok(Self { kind, wants_answer, version, name, serial, packet, body, mismatch })
    }

    /// Identifiers to look up: without leading zeros, then as it was sent.
    pub(super) fn identifiers(&self) -> Vec<String> {
        let name = self.code();
        let short = name.trim_start_matches('0');
        let short = if short.is_empty() { "0" } else { short };
        if short == name { vec![name] } else { vec![short.to_owned(), name] }
    }

    /// The identifier as text, which is also the code with which a device authenticates.
    pub(super) fn code(&self) -> String {
        let digits = hex_digits(self.name);
        if digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return digits;
        }
        // The number of a terminal without its check digit.
        let number = self.name.iter().take(6).fold(0, |number: u64, byte| number << 8 | u64::from(*byte));
        format!("{number}{}", luhn(number))
    }

    /// A message to the device.
    pub(super) fn answer(&self, kind: u16, body: &[u8]) -> Vec<u8> {
        let serial: &[u8] = if kind == 0x4401 { &[1] } else { &[0, 0] };
        write(kind, self.version, self.name, serial, body)
    }

    /// The general answer: serial number and type of the received message, and that it was accepted.
    pub(super) fn acknowledge(&self) -> Vec<u8> {
        let [serial_high, serial_low] = self.serial.to_be_bytes();
        let [kind_high, kind_low] = self.kind.to_be_bytes();
        self.answer(0x8001, &[serial_high, serial_low, kind_high, kind_low, 0])
    }
}

/// Total and number of a packet. Some makers use the bit for another purpose; bytes that are not a packet number belong
/// to the body.
fn read_packet(body: &mut Reader<'_>) -> Option<Packet> {
    let (total, number) = (body.peek_u16(0)?, body.peek_u16(2)?);
    if number == 0 || number > total {
        return None;
    }
    body.skip(4).ok()?;
    (total > 1).then_some(Packet { total, number })
}

/// Writes a message as it goes over the wire.
pub(super) fn write(kind: u16, version: Option<u8>, name: &[u8], serial: &[u8], body: &[u8]) -> Vec<u8> {
    let length = u16::try_from(body.len()).unwrap_or(0x3ff) & 0x3ff;
    let properties = if version.is_some() { length | 0x4000 } else { length };
    write_with(kind, properties, version, name, serial, body)
}

/// Writes a packet of a longer message as a terminal of 2013 does.
#[cfg(test)]
pub(super) fn write_packet(kind: u16, name: &[u8], serial: u16, packet: (u16, u16), body: &[u8]) -> Vec<u8> {
    let properties = u16::try_from(body.len()).unwrap() | 0x2000;
    let head = [serial, packet.0, packet.1].map(u16::to_be_bytes).concat();
    write_with(kind, properties, None, name, &head, body)
}

fn write_with(
    kind: u16,
    properties: u16,
    version: Option<u8>,
    name: &[u8],
    serial: &[u8],
    body: &[u8],
) -> Vec<u8> {
    let mut frame = vec![0x7e];
    frame.extend_from_slice(&kind.to_be_bytes());
    frame.extend_from_slice(&properties.to_be_bytes());
    frame.extend(version);
    frame.extend_from_slice(name);
    frame.extend_from_slice(serial);
    frame.extend_from_slice(body);
    frame.push(xor(frame.get(1..).unwrap_or_default()));
    frame.push(0x7e);
    escape(&frame)
}

/// The check digit of a number.
fn luhn(number: u64) -> u64 {
    let digits = number.to_string();
    let sum: u64 = digits
        .bytes()
        .rev()
        .enumerate()
        .map(|(index, digit)| {
            let digit = u64::from(digit - b'0');
            let doubled = if index % 2 == 0 { digit * 2 } else { digit };
            doubled / 10 + doubled % 10
        })
        .sum();
    (10 - sum % 10) % 10
}
