//! Encodes messages to the Iridium gateway: confirmations of messages from modems, and messages to modems.

use crate::decoded::DecodeError;
use crate::notation::fields::is_digits;
use crate::notation::reader::Reader;

use super::frame::REVISION;

const CONFIRMATION: u8 = 0x05;
const MT_HEADER: u8 = 0x41;
const MT_PAYLOAD: u8 = 0x42;
const MT_CONFIRMATION: u8 = 0x44;

/// The answer to a message of a modem, for accounts that request one.
pub const fn confirmation(stored: bool) -> [u8; 7] {
    [REVISION, 0, 4, CONFIRMATION, 0, 1, if stored { 1 } else { 0 }]
}

/// A message to a modem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MtMessage<'a> {
    /// Returned in the confirmation of the gateway.
    pub client_id: [u8; 4],
    /// The IMEI of the modem, 15 digits.
    pub imei: &'a str,
    /// Sum of 1 (flush the queue), 2 (ring alert without payload), 8 (update location), 16 (high priority) and 32 (use the
    /// client id as MTMSN).
    pub flags: u16,
    /// At most [`Self::MAX_PAYLOAD`] bytes; most modems accept 270.
    pub payload: &'a [u8],
}

impl MtMessage<'_> {
    /// Maximum payload of the largest modem, in bytes.
    pub const MAX_PAYLOAD: usize = 1890;

    /// The bytes for the gateway; none if the IMEI is not 15 digits or the payload is too long.
    pub fn encode(&self) -> Option<Vec<u8>> {
        let valid = self.imei.len() == 15 && is_digits(self.imei) && self.payload.len() <= Self::MAX_PAYLOAD;
        let payload = u16::try_from(self.payload.len()).ok().filter(|_| valid)?;
        let overall = 24 + if payload == 0 { 0 } else { 3 + payload };
        let mut bytes = vec![REVISION];
        bytes.extend(overall.to_be_bytes());
        bytes.extend([MT_HEADER, 0, 21]);
        bytes.extend(self.client_id);
        bytes.extend(self.imei.as_bytes());
        bytes.extend(self.flags.to_be_bytes());
        if payload > 0 {
            bytes.push(MT_PAYLOAD);
            bytes.extend(payload.to_be_bytes());
            bytes.extend(self.payload);
        }
        Some(bytes)
    }
}

/// The gateway's answer to a message for a modem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MtConfirmation {
    /// As in [`MtMessage::client_id`].
    pub client_id: [u8; 4],
    /// The IMEI of the modem, 15 digits.
    pub imei: String,
    /// The number that the gateway assigned; 0 after an error.
    pub reference: u32,
    /// 0 to 50: position in the queue. −1 to −12: reason of the refusal.
    pub status: i16,
}

impl MtConfirmation {
    /// Reads the gateway's answer to a message that was sent to a modem.
    pub fn decode(frame: &[u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(frame);
        let (revision, length) = (reader.u8()?, reader.u16()?);
        let mut reader = reader.sub(length.into())?;
        if (revision, reader.u8()?, reader.u16()?) != (REVISION, MT_CONFIRMATION, 25) {
            return Err(DecodeError::Malformed("the message is not a confirmation of the Iridium gateway"));
        }
        let client_id = reader.array()?;
        let imei = reader.text(15)?;
        if !is_digits(&imei) {
            return Err(DecodeError::Malformed("the IMEI is not 15 digits"));
        }
        Ok(Self { client_id, imei, reference: reader.u32()?, status: reader.i16()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::notation::hex::parse_hex;
    use crate::notation::reader::hex_digits;

    #[test]
    fn messages_to_modems_are_written() {
        let message =
            MtMessage { client_id: *b"Msg7", imei: "300234010753370", flags: 0, payload: b"Hello World!" };
        let hex = "0100274100154d736737333030323334303130373533333730000042000c48656c6c6f20576f726c6421";
        assert_eq!(message.encode().map(|bytes| hex_digits(&bytes)).as_deref(), Some(hex));
        assert_eq!(MtMessage { imei: "30023401075337x", ..message }.encode(), None);
        assert_eq!(MtMessage { payload: &[0; 1891], ..message }.encode(), None);
    }

    #[test]
    fn confirmations_are_read() {
        // The IMEI of this published vector is the bytes 0 to 14.
        let strange = parse_hex("01001c44001900000457000102030405060708090a0b0c0d0e00000000002a").unwrap();
        assert!(MtConfirmation::decode(&strange).is_err());
        let mut bytes = strange;
        bytes[10..25].copy_from_slice(b"300234010753370");
        let read = MtConfirmation::decode(&bytes).unwrap();
        assert_eq!((u32::from_be_bytes(read.client_id), read.status, read.reference), (1111, 42, 0));
        assert_eq!(confirmation(true), [1, 0, 4, 5, 0, 1, 1]);
    }
}
