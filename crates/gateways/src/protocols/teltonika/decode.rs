//! Decodes Teltonika frames: envelope, login, and the dispatch to codecs.

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::notation::checksum::crc16_arc;
use crate::notation::reader::Reader;

use super::gh3000::read_gh3000;
use super::parameter::Family;
use super::photo::Photos;
use super::record::{Codec, read_record};
use super::serial::{read_answer, read_timed_answer};

/// Decodes the frames of one connection.
#[derive(Debug, Default)]
pub(super) struct TeltonikaDecoder {
    photos: Photos,
}

impl Decoder for TeltonikaDecoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        let read = if context.datagram {
            self.read_datagram(frame, context)
        } else {
            self.read_frame(frame, context)
        };
        read.into()
    }

    fn held_bytes(&self) -> usize {
        self.photos.held_bytes()
    }

    fn drop_held(&mut self) {
        self.photos = Photos::default();
    }
}

impl TeltonikaDecoder {
    fn read_frame(&mut self, frame: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
        if frame == [0xff] {
            return Ok(Decoded::nothing());
        }
        let mut reader = Reader::new(frame);
        let length = reader.u16()?;
        if length > 0 {
            let name = reader.text(length.into())?;
            return Ok(Decoded::identified(name).with_reply([1]));
        }
        reader.skip(2)?;
        let length = usize::try_from(reader.u32()?).unwrap_or(usize::MAX);
        let data = reader.rest().get(..length).unwrap_or_else(|| reader.rest());
        let mut decoded = Decoded::nothing();
        let codec = Reader::new(data).u8()?;
        // The checksum is preceded by two zero bytes.
        let computed = crc16_arc(data);
        let mut rest = Reader::new(reader.rest().get(data.len()..).unwrap_or_default());
        let sent = rest.u16().and_then(|_zero| rest.u16()).unwrap_or(0);
        // A damaged part of a photo is dropped.
        let kept = (sent != computed).then(|| std::mem::take(&mut self.photos));
        let count = self.read_data(&mut decoded, Reader::new(data), context, context.known);
        if let Some(photos) = kept {
            self.photos = photos;
        }
        let count = count?;
        if !matches!(codec, 0x0c..=0x0f) {
            decoded.reply(u32::from(count).to_be_bytes());
        }
        if sent != computed {
            decoded.error = Some(DecodeError::Checksum { sent, computed });
        }
        Ok(decoded)
    }

    /// Length, packet number, an unused byte, the packet number of the records, and the identifier of the device.
    fn read_datagram(&mut self, frame: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
        let mut reader = Reader::new(frame);
        reader.skip(2)?;
        let packet: [u8; 2] = reader.array()?;
        reader.skip(1)?;
        let records = reader.u8()?;
        let length = reader.u16()?;
        let mut decoded = Decoded::identified(reader.text(length.into())?);
        let count = self.read_data(&mut decoded, reader, context, true)?;
        let [high, low] = packet;
        decoded.reply([0, 5, high, low, 1, records, count]);
        Ok(decoded)
    }

    /// Reads the records and returns their number.
    fn read_data(
        &mut self,
        decoded: &mut Decoded,
        mut reader: Reader<'_>,
        context: &Context<'_>,
        known: bool,
    ) -> Result<u8, DecodeError> {
        let (codec, count) = (reader.u8()?, reader.u8()?);
        if !known && codec != 0x0e && codec != 0x0f {
            return Err(DecodeError::Unidentified);
        }
        let reader = &mut reader;
        let family = Family::of(context);
        let sixteen = context.options.flag("extended");
        for _ in 0..count {
            let report = match codec {
                0x07 => read_gh3000(reader)?,
                0x08 => read_record(reader, Codec::Eight, sixteen, family)?,
                0x8e => read_record(reader, Codec::EightExtended, sixteen, family)?,
                0x10 => read_record(reader, Codec::Sixteen, sixteen, family)?,
                0x0c if reader.peek(0) == Some(0x0d) => self.photos.read(decoded, reader)?,
                0x0c => read_answer(reader)?,
                0x0d => read_timed_answer(reader)?,
                0x0e | 0x0f => super::serial::read_addressed_answer(decoded, reader, codec == 0x0f)?,
                _ => return Err(DecodeError::UnknownType(codec.into())),
            };
            if report.time.is_some() || !report.is_bare() {
                decoded.reports.push(report);
            }
        }
        Ok(count)
    }
}
