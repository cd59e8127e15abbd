//! Locations of a chunk one after the other, in one place that is used again for each.

use perigee_core::location::{Attribute, StoredLocation};
use perigee_core::time::Timestamp;

use super::attribute::{Kind, column_of};
use super::field::{NUMBERS, NumberField, TEXTS, TextField, blank, id};
use super::header::Column;
use super::numbers::Numbers;
use super::position::{Position, Positions};
use super::presence::Answers;
use super::texts::Texts;
use crate::codec::bytes::{CodecError, Reader};

/// The locations of a chunk within a range, oldest first.
///
/// There is one location in memory, and each step changes in it only what has a column: what no location of the
/// chunk has costs nothing to read.
pub struct Rows<'a> {
    positions: Positions<'a>,
    numbers: Numbers<'a>,
    received: Received<'a>,
    columns: Vec<Feed<'a>>,
    row: StoredLocation,
}

/// How it is told when locations were received.
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
            rest.iter().map(|column| Feed::open(column, positions.left)).collect::<Result<_, _>>()?;
        Ok(Self { positions, numbers, received, columns, row: blank() })
    }

    /// The next location; `None` after the last.
    #[expect(clippy::should_implement_trait, reason = "it lends what it gives, which an iterator cannot")]
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

    /// Reads the next location over the one before.
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

    /// Nothing may be left in any column.
    fn end(&self) -> Result<(), CodecError> {
        self.positions.end()?;
        self.numbers.end()?;
        match &self.received {
            Received::At(numbers) | Received::After(numbers) => numbers.end()?,
        }
        self.columns.iter().try_for_each(Feed::end)
    }
}

/// A column being read.
struct Feed<'a> {
    id: u8,
    there: Answers<'a>,
    values: Values<'a>,
}

enum Values<'a> {
    Number(&'static NumberField, Numbers<'a>),
    Text(&'static TextField, Texts<'a>),
    AttributeNumber(String, Kind, Numbers<'a>),
    AttributeText(String, Texts<'a>),
}

impl<'a> Feed<'a> {
    fn open(column: &Column<&'a [u8]>, count: usize) -> Result<Self, CodecError> {
        let mut input = Reader::new(column.body);
        if let Some(field) = NUMBERS.iter().find(|field| field.id == column.id) {
            let (there, values) = Answers::open(&mut input, count)?;
            return Ok(Self {
                id: column.id,
                there,
                values: Values::Number(field, Numbers::open(input, values)?),
            });
        }
        if let Some(field) = TEXTS.iter().find(|field| field.id == column.id) {
            let (there, values) = Answers::open(&mut input, count)?;
            return Ok(Self {
                id: column.id,
                there,
                values: Values::Text(field, Texts::open(input, values)?),
            });
        }
        let key = input.text()?;
        let kind = match column.id {
            id::ATTRIBUTE_TEXT => {
                let (there, values) = Answers::open(&mut input, count)?;
                return Ok(Self {
                    id: column.id,
                    there,
                    values: Values::AttributeText(key, Texts::open(input, values)?),
                });
            }
            id::ATTRIBUTE_INTEGER => Kind::Integer,
            id::ATTRIBUTE_REAL => Kind::Real(input.byte()?),
            id::ATTRIBUTE_FLAG => Kind::Flag,
            _ => return Err(CodecError::Malformed),
        };
        let (there, values) = Answers::open(&mut input, count)?;
        Ok(Self {
            id: column.id,
            there,
            values: Values::AttributeNumber(key, kind, Numbers::open(input, values)?),
        })
    }

    /// Puts the next value, or that there is none, into the location.
    fn put(&mut self, row: &mut StoredLocation) -> Result<(), CodecError> {
        let there = self.there.next()?;
        match &mut self.values {
            Values::Number(field, numbers) => {
                let value = if there { Some(numbers.next()?) } else { None };
                (field.set)(row, value)
            }
            Values::Text(field, texts) => {
                let value = if there { Some(Reader::new(texts.next()?)) } else { None };
                (field.set)(row, value)
            }
            Values::AttributeNumber(key, kind, numbers) => {
                let value = if there { Some(kind.attribute(numbers.next()?)?) } else { None };
                put_attribute(row, key, self.id, value);
                Ok(())
            }
            Values::AttributeText(key, texts) => {
                let value = if there {
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

/// Puts an attribute of a column in place of the one before it, or takes that away.
fn put_attribute(row: &mut StoredLocation, key: &str, column: u8, value: Option<Attribute>) {
    let attributes = &mut row.location.readings.attributes;
    match (value, attributes.get_mut(key)) {
        (Some(value), Some(present)) => *present = value,
        (Some(value), None) => {
            attributes.insert(key.to_owned(), value);
        }
        // A value of another kind is of another column, which may have put it there for this very location.
        (None, Some(present)) if column_of(present) == column => {
            attributes.remove(key);
        }
        (None, _) => {}
    }
}
