//! The parts of a GT06 frame, and the numbers of its messages.

use crate::decoded::DecodeError;
use crate::notation::checksum::crc16_x25;
use crate::notation::reader::Reader;

/// Numbers of messages. The same number has different meanings on different models.
pub(super) mod kind {
    pub(in super::super) const LOGIN: u8 = 0x01;
    pub(in super::super) const GPS: u8 = 0x10;
    pub(in super::super) const GPS_CELL_WIDE: u8 = 0x11;
    pub(in super::super) const GPS_CELL: u8 = 0x12;
    pub(in super::super) const STATUS: u8 = 0x13;
    pub(in super::super) const TEXT: u8 = 0x15;
    pub(in super::super) const ALARM: u8 = 0x16;
    pub(in super::super) const WIFI_OR_CARD: u8 = 0x17;
    pub(in super::super) const CELLS_WIFI_OLD: u8 = 0x18;
    pub(in super::super) const CELL_STATUS: u8 = 0x19;
    pub(in super::super) const GPS_PHONE: u8 = 0x1a;
    pub(in super::super) const GPS_EXTENDED: u8 = 0x1e;
    pub(in super::super) const LONG_TEXT: u8 = 0x21;
    pub(in super::super) const GPS_REASON: u8 = 0x22;
    pub(in super::super) const HEARTBEAT: u8 = 0x23;
    pub(in super::super) const CELLS_C: u8 = 0x24;
    pub(in super::super) const GPS_DRIVER: u8 = 0x25;
    pub(in super::super) const ALARM_B: u8 = 0x26;
    pub(in super::super) const ALARM_FENCE: u8 = 0x27;
    pub(in super::super) const CELLS: u8 = 0x28;
    pub(in super::super) const ADDRESS_REQUEST: u8 = 0x2a;
    pub(in super::super) const CELLS_WIFI: u8 = 0x2c;
    pub(in super::super) const GPS_REASON_C: u8 = 0x2d;
    pub(in super::super) const CELLS_B: u8 = 0x2e;
    pub(in super::super) const GPS_REASON_D: u8 = 0x31;
    pub(in super::super) const ALARM_C: u8 = 0x32;
    pub(in super::super) const WIFI_SIX_CELLS: u8 = 0x33;
    pub(in super::super) const X1_GPS_OR_CELLS: u8 = 0x34;
    pub(in super::super) const PHOTO_ANNOUNCED: u8 = 0x35;
    pub(in super::super) const STATUS_OR_PHOTO: u8 = 0x36;
    pub(in super::super) const GPS_REASON_B: u8 = 0x37;
    pub(in super::super) const GPS_CELL_TYPED: u8 = 0x38;
    pub(in super::super) const ALARM_MODULES: u8 = 0x39;
    pub(in super::super) const BATTERY_SYSTEM: u8 = 0x40;
    pub(in super::super) const MULTIMEDIA: u8 = 0x41;
    pub(in super::super) const IBUTTON: u8 = 0x61;
    pub(in super::super) const WIFI: u8 = 0x69;
    pub(in super::super) const MODULES: u8 = 0x70;
    pub(in super::super) const COMMAND: u8 = 0x80;
    pub(in super::super) const COMMAND_END: u8 = 0x82;
    pub(in super::super) const TIME_REQUEST: u8 = 0x8a;
    pub(in super::super) const OBD: u8 = 0x8c;
    pub(in super::super) const INFORMATION: u8 = 0x94;
    pub(in super::super) const CAMERA_ALARM: u8 = 0x95;
    pub(in super::super) const ADDRESS_ANSWER: u8 = 0x97;
    pub(in super::super) const SERIAL_PORT: u8 = 0x9b;
    pub(in super::super) const GPS_CELL_4G: u8 = 0xa0;
    pub(in super::super) const CELLS_4G: u8 = 0xa1;
    pub(in super::super) const WIFI_4G_OR_STATUS: u8 = 0xa2;
    pub(in super::super) const FENCE_OR_STATUS: u8 = 0xa3;
    pub(in super::super) const ALARM_FENCE_4G: u8 = 0xa4;
    pub(in super::super) const CELL_ALARM_4G: u8 = 0xa5;
    pub(in super::super) const CELL_ADDRESS_4G: u8 = 0xa7;
    pub(in super::super) const WIFI_ALARM: u8 = 0xa9;
    pub(in super::super) const TAG_CLOCK: u8 = 0xb2;
    pub(in super::super) const DEVICE_STATUS: u8 = 0xf1;
    pub(in super::super) const PERIPHERAL: u8 = 0xf2;
    pub(in super::super) const WIFI_COUNTED: u8 = 0xf3;
}

/// Serial number, checksum and the line's end.
const TAIL: usize = 6;

/// A frame split into its parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Message<'a> {
    /// Whether its length has two bytes.
    pub(super) long: bool,
    /// The length that the frame states: that of type, content, serial number and checksum.
    pub(super) stated: usize,
    /// The number of the message.
    pub(super) kind: u8,
    /// The bytes between type and serial number.
    pub(super) content: Reader<'a>,
    /// The serial number, which is echoed in the answer.
    pub(super) serial: u16,
    /// The checksum in the frame and the computed one, if they differ.
    pub(super) mismatch: Option<(u16, u16)>,
}

impl<'a> Message<'a> {
    /// Splits a frame into its parts.
    pub(super) fn read(frame: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(frame);
        let long = match reader.u16()? {
            0x7878 => false,
            0x7979 => true,
            _ => return Err(DecodeError::Malformed("a frame must begin with 7878 or 7979")),
        };
        let stated = if long { usize::from(reader.u16()?) } else { usize::from(reader.u8()?) };
        let kind = reader.u8()?;
        // The stated length, or the actual length if that is shorter: some clones count wrongly.
        let stated_tail = (reader.position() - 1 + stated).checked_sub(TAIL - 2);
        let tail_at = stated_tail.filter(|at| stated >= TAIL - 1 && at + TAIL - 2 <= frame.len());
        let tail_at = tail_at.or_else(|| frame.len().checked_sub(TAIL)).ok_or(DecodeError::Short)?;
        let content =
            Reader::new(reader.rest().get(..tail_at.saturating_sub(reader.position())).unwrap_or_default());
        let mut tail = Reader::new(frame.get(tail_at..).unwrap_or_default());
        let (serial, sent) = (tail.u16()?, tail.u16()?);
        let computed = crc16_x25(frame.get(2..tail_at + 2).unwrap_or_default());
        let mismatch = (sent != computed).then_some((sent, computed));
        Ok(Self { long, stated, kind, content, serial, mismatch })
    }
}
