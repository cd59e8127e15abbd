//! Decodes GT06 frames: envelope, login, and the dispatch of messages.

use crate::decoded::{Context, DecodeError, Decoded, Decoder};
use crate::notation::calendar::Civil;

use crate::notation::reader::Reader;

use super::battery::read_battery_system;
use super::encode::{long_frame, short_frame};
use super::extended::read_long;
use super::located::read_located;
use super::media::Photos;
use super::message::{Message, kind};
use super::network::{read_cells, read_tag_clock, read_wifi};
use super::part::Zone;
use super::variant::{Family, Layout};

/// The reply to a request for a street address: none is available.
const NO_ADDRESS: &[u8] = b"NA&&NA&&0##";

/// Reads the frames of one connection.
#[derive(Debug, Default)]
pub(super) struct Gt06Decoder {
    /// Offset from UTC in minutes, if the login contained it.
    zone_minutes: i64,
    photos: Photos,
}

impl Decoder for Gt06Decoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        let mut decoded = Decoded::from(self.read(frame, context));
        decoded.zone_minutes = Some(context.zone_minutes().unwrap_or(self.zone_minutes));
        decoded
    }

    fn held_bytes(&self) -> usize {
        self.photos.held_bytes()
    }

    fn drop_held(&mut self) {
        self.photos = Photos::default();
    }
}

impl Gt06Decoder {
    fn read(&mut self, frame: &[u8], context: &Context<'_>) -> Result<Decoded, DecodeError> {
        let message = Message::read(frame)?;
        let layout = Layout::of(&message);
        if !message.long && message.kind == kind::LOGIN {
            return self.read_login(message, frame).map(|decoded| checked(decoded, &message));
        }
        if !context.known {
            return Err(DecodeError::Unidentified);
        }
        let zone = Zone { context, login_minutes: self.zone_minutes };
        let wifi = matches!(message.kind, kind::WIFI_OR_CARD | kind::WIFI) && layout != Layout::Card;
        if !message.long && wifi {
            // These frames have a count instead of a length, and neither serial number nor checksum.
            return read_wifi(frame);
        }
        // A damaged part of a photo is dropped.
        let kept = message.mismatch.map(|_| std::mem::take(&mut self.photos));
        let decoded = if message.long {
            read_long(message, zone, &mut self.photos)
        } else {
            self.read_short(message, layout, zone)
        };
        if let Some(photos) = kept {
            self.photos = photos;
        }
        Ok(checked(decoded?, &message))
    }

    /// The identifier of the device, then its type and, if they are sent, zone and language.
    fn read_login(&mut self, message: Message<'_>, frame: &[u8]) -> Result<Decoded, DecodeError> {
        let mut content = message.content;
        // Some clones omit the serial number, so the identifier is read from the whole frame and not only from the part
        // before it.
        let identifier = Reader::new(frame.get(4..).unwrap_or_default()).hex(8)?;
        let _ = content.skip(8);
        if content.remaining() >= 4 {
            content.skip(2)?;
            let extension = content.u16()?;
            let hours_minutes = i64::from(extension >> 4);
            let minutes = hours_minutes / 100 * 60 + hours_minutes % 100;
            let minutes = if extension & 0x8 == 0 { minutes } else { -minutes };
            self.zone_minutes = if minutes.abs() <= 14 * 60 { minutes } else { 0 };
        }
        let identifier = identifier.get(1..).unwrap_or_default();
        Ok(Decoded::identified(identifier).with_reply(short_frame(kind::LOGIN, &[], message.serial)))
    }

    fn read_short(
        &mut self,
        message: Message<'_>,
        layout: Layout,
        zone: Zone<'_>,
    ) -> Result<Decoded, DecodeError> {
        let answer = short_frame(message.kind, &[], message.serial);
        Ok(match message.kind {
            kind::ADDRESS_REQUEST => {
                let mut content = vec![u8::try_from(NO_ADDRESS.len()).unwrap_or(0), 0, 0, 0, 0];
                content.extend_from_slice(NO_ADDRESS);
                Decoded::nothing().with_reply(long_frame(kind::ADDRESS_ANSWER, &content, 0))
            }
            kind::TIME_REQUEST => {
                let now = Civil::of(zone.context.now);
                let year = u8::try_from(now.year % 100).unwrap_or(0);
                let clock = [year, now.month, now.day, now.hour, now.minute, now.second];
                Decoded::nothing().with_reply(short_frame(kind::TIME_REQUEST, &clock, 0))
            }
            kind::PHOTO_ANNOUNCED => self.photos.announce(message.content)?,
            kind::BATTERY_SYSTEM => Decoded::one(read_battery_system(message.content)?).with_reply(answer),
            kind::CELLS_C if layout == Layout::Sr411 => read_located(message, layout, Family::Usual, zone)?,
            kind::X1_GPS_OR_CELLS if layout != Layout::Sl4x => {
                read_located(message, layout, Family::Usual, zone)?
            }
            kind::WIFI_4G_OR_STATUS if layout == Layout::Lw4g => {
                read_located(message, layout, Family::of(zone.context), zone)?.with_reply(answer)
            }
            kind::CELLS
            | kind::CELLS_B
            | kind::CELLS_C
            | kind::CELLS_WIFI_OLD
            | kind::CELLS_WIFI
            | kind::CELLS_4G
            | kind::X1_GPS_OR_CELLS
            | kind::WIFI_4G_OR_STATUS
            | kind::WIFI_SIX_CELLS
            | kind::WIFI_ALARM => read_cells(message, layout, zone)?.with_reply(answer),
            kind::TAG_CLOCK => read_tag_clock(message, zone)?.with_reply(answer),
            // Several cells in an undocumented format; not acknowledged.
            kind::CELL_STATUS if layout == Layout::Space10x => Decoded::nothing(),
            kind::COMMAND..=kind::COMMAND_END => Decoded::nothing(),
            kind::INFORMATION | kind::WIFI_COUNTED => read_located(message, layout, Family::Usual, zone)?,
            _ => read_located(message, layout, Family::of(zone.context), zone)?.with_reply(answer),
        })
    }
}

fn checked(mut decoded: Decoded, message: &Message<'_>) -> Decoded {
    decoded.error = message.mismatch.map(|(sent, computed)| DecodeError::Checksum { sent, computed });
    decoded
}
