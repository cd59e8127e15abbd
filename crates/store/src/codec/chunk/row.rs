//! Reads the locations of a chunk one after the other, into one buffer.

use perigee_core::locations::location::{Attribute, StoredLocation};
use perigee_core::time::Timestamp;

use super::attribute::{Kind, column_of};
use super::field::{BytesColumn, NumberColumn, blank, bytes_columns, id, number_column};
use super::header::Column;
use super::numbers::Numbers;
use super::position::{Position, Positions};
use super::presence::Presence;
use super::texts::Texts;
use crate::codec::bytes::{CodecError, Reader};

/// The locations of a chunk within a range, oldest first.
///
/// Each step overwrites the fields that have a column in the same [`StoredLocation`]: fields that no location of the
/// chunk has cost nothing.
pub struct Rows<'a> {
    positions: Positions<'a>,
    numbers: Numbers<'a>,
    received: Received<'a>,
    columns: Vec<ColumnReader<'a>>,
    row: StoredLocation,
}

/// How the chunk stores the times of receipt: as instants, or as delays after the fix.
pub(super) enum Received<'a> {
    At(Numbers<'a>),
    After(Numbers<'a>),
}

impl<'a> Rows<'a> {
    pub(super) fn open(
        positions: Positions<'a>,
        numbers: Numbers<'a>,
        received: Received<'a>,
        rest: &[&Column<&'a [u8]>],
    ) -> Result<Self, CodecError> {
        let columns =
            rest.iter().map(|column| ColumnReader::open(column, positions.left)).collect::<Result<_, _>>()?;
        Ok(Self { positions, numbers, received, columns, row: blank() })
    }

    /// The next location; `None` after the last.
    #[expect(clippy::should_implement_trait, reason = "an iterator cannot return a borrow of its own buffer")]
    pub fn next(&mut self) -> Result<Option<&StoredLocation>, CodecError> {
        while self.positions.left > 0 {
            self.positions.left -= 1;
            self.put()?;
            if self.row.location.time > self.positions.range.to {
                self.positions.left = 0;
                return Ok(None);
            }
            if self.positions.left == 0 {
                self.end()?;
            }
            if self.row.location.time >= self.positions.range.from {
                return Ok(Some(&self.row));
            }
        }
        Ok(None)
    }

    /// Overwrites the row with the next location.
    fn put(&mut self) -> Result<(), CodecError> {
        let Position { time, latitude, longitude } = self.positions.read()?;
        self.row.location.time = time;
        self.row.location.latitude = latitude;
        self.row.location.longitude = longitude;
        self.row.number = self.numbers.next()?;
        self.row.received_at = match &mut self.received {
            Received::At(instants) => Timestamp::from_millis(instants.next()?),
            Received::After(delays) => time.plus_millis(delays.next()?),
        };
        self.columns.iter_mut().try_for_each(|column| column.put(&mut self.row))
    }

    /// An error unless all columns were read to their end.
    fn end(&self) -> Result<(), CodecError> {
        self.positions.end()?;
        self.numbers.end()?;
        match &self.received {
            Received::At(numbers) | Received::After(numbers) => numbers.end()?,
        }
        self.columns.iter().try_for_each(ColumnReader::end)
    }
}

struct ColumnReader<'a> {
    id: u8,
    present: Presence<'a>,
    values: Values<'a>,
}

enum Values<'a> {
    Number(&'static NumberColumn, Numbers<'a>),
    Text(&'static BytesColumn, Texts<'a>),
    AttributeNumber(String, Kind, Numbers<'a>),
    AttributeText(String, Texts<'a>),
}

impl<'a> ColumnReader<'a> {
    fn open(column: &Column<&'a [u8]>, count: usize) -> Result<Self, CodecError> {
        let mut input = Reader::new(column.body);
        if let Some(field) = number_column(column.id) {
            let (present, values) = Presence::open(&mut input, count)?;
            return Ok(Self {
                id: column.id,
                present,
                values: Values::Number(field, Numbers::open(input, values)?),
            });
        }
        if let Some(field) = bytes_columns().find(|field| field.id == column.id) {
            let (present, values) = Presence::open(&mut input, count)?;
            return Ok(Self {
                id: column.id,
                present,
                values: Values::Text(field, Texts::open(input, values)?),
            });
        }
        let key = input.text()?;
        let kind = match column.id {
            id::ATTRIBUTE_TEXT => {
                let (present, values) = Presence::open(&mut input, count)?;
                return Ok(Self {
                    id: column.id,
                    present,
                    values: Values::AttributeText(key, Texts::open(input, values)?),
                });
            }
            id::ATTRIBUTE_INTEGER => Kind::Integer,
            id::ATTRIBUTE_REAL => Kind::Real(input.byte()?),
            id::ATTRIBUTE_FLAG => Kind::Flag,
            _ => return Err(CodecError::Malformed),
        };
        let (present, values) = Presence::open(&mut input, count)?;
        Ok(Self {
            id: column.id,
            present,
            values: Values::AttributeNumber(key, kind, Numbers::open(input, values)?),
        })
    }

    /// Sets the next value in the row, or clears it.
    fn put(&mut self, row: &mut StoredLocation) -> Result<(), CodecError> {
        let present = self.present.next()?;
        match &mut self.values {
            Values::Number(field, numbers) => {
                let value = if present { Some(numbers.next()?) } else { None };
                (field.set)(row, value)
            }
            Values::Text(field, texts) => {
                let value = if present { Some(Reader::new(texts.next()?)) } else { None };
                (field.set)(row, value)
            }
            Values::AttributeNumber(key, kind, numbers) => {
                let value = if present { Some(kind.attribute(numbers.next()?)?) } else { None };
                put_attribute(row, key, self.id, value);
                Ok(())
            }
            Values::AttributeText(key, texts) => {
                let value = if present {
                    let text = std::str::from_utf8(texts.next()?).map_err(|_detail| CodecError::Malformed)?;
                    Some(Attribute::Text(text.to_owned()))
                } else {
                    None
                };
                put_attribute(row, key, self.id, value);
                Ok(())
            }
        }
    }

    fn end(&self) -> Result<(), CodecError> {
        match &self.values {
            Values::Number(_, numbers) | Values::AttributeNumber(_, _, numbers) => numbers.end(),
            Values::Text(_, texts) | Values::AttributeText(_, texts) => texts.end(),
        }
    }
}

/// Sets or clears an attribute.
fn put_attribute(row: &mut StoredLocation, key: &str, column: u8, value: Option<Attribute>) {
    let attributes = &mut row.location.readings.attributes;
    match (value, attributes.get_mut(key)) {
        (Some(value), Some(present)) => *present = value,
        (Some(value), None) => {
            attributes.insert(key.to_owned(), value);
        }
        // A value of another kind belongs to another column, which may have set it for this location.
        (None, Some(present)) if column_of(present) == column => {
            attributes.remove(key);
        }
        (None, _) => {}
    }
}
