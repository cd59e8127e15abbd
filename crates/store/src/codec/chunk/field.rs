//! The columns of a chunk: their numbers, and how a value is put back into a location.

use perigee_core::locations::location::{
    Latitude, Location, Longitude, Readings, StoredLocation, Trust, kind,
};
use perigee_core::reading_fields;
use perigee_core::time::Timestamp;

use crate::codec::bytes::{CodecError, Reader, Writer};
use crate::codec::packed::Packed;

/// The number of each column that is not a reading; the numbers of readings are in `reading_fields!`. A number never
/// changes its meaning. A new column takes a new number: older programs refuse to read it rather than drop it.
pub(super) mod id {
    pub(in super::super) const TIME: u8 = 0;
    pub(in super::super) const LATITUDE: u8 = 1;
    pub(in super::super) const LONGITUDE: u8 = 2;
    /// The location's number in the log.
    pub(in super::super) const NUMBER: u8 = 3;
    /// When it was received, as an instant or as the delay after the fix; a chunk has one of the two.
    pub(in super::super) const RECEIVED_AT: u8 = 4;
    pub(in super::super) const DELAY: u8 = 5;
    pub(in super::super) const LATE: u8 = 6;
    pub(in super::super) const SUSPECT: u8 = 7;

    /// Columns of numbers have lower numbers than this.
    pub(in super::super) const NUMBERS_END: usize = 64;

    pub(in super::super) const ATTRIBUTE_TEXT: u8 = 96;
    pub(in super::super) const ATTRIBUTE_INTEGER: u8 = 97;
    pub(in super::super) const ATTRIBUTE_REAL: u8 = 98;
    pub(in super::super) const ATTRIBUTE_FLAG: u8 = 99;
}

/// The fields of every location, in ascending order.
pub(super) const CORE: [u8; 6] =
    [id::TIME, id::LATITUDE, id::LONGITUDE, id::NUMBER, id::RECEIVED_AT, id::DELAY];

/// A column of numbers that a location may have.
pub(super) struct NumberColumn {
    pub(super) id: u8,
    pub(super) set: fn(&mut StoredLocation, Option<i64>) -> Result<(), CodecError>,
}

/// A column of byte strings that a location may have. Equal values have equal bytes.
pub(super) struct BytesColumn {
    pub(super) id: u8,
    /// Writes the value; false if there is none.
    pub(super) write: fn(&Readings, &mut Writer) -> bool,
    pub(super) set: fn(&mut StoredLocation, Option<Reader<'_>>) -> Result<(), CodecError>,
}

pub(super) enum ReadingColumn {
    Number(NumberColumn),
    Bytes(BytesColumn),
    /// Attributes, which have a column for each key and kind of value.
    Attributes,
}

macro_rules! define {
    ($(
        $member:ident: $kind:ident $field:ident $name:literal $bounds:ident bit $bit:literal column $column:literal
        $example:literal $what:literal $($unit:literal)?;
    )+) => {
        static READINGS: &[ReadingColumn] = &[$(define!(@ $kind $member $column)),+];
    };
    (@ Attributes $member:ident $column:literal) => { ReadingColumn::Attributes };
    (@ $kind:ident $member:ident $column:literal) => {
        if <kind::$kind as Packed>::IS_NUMBER {
            ReadingColumn::Number(NumberColumn {
                id: $column,
                set: |to, value| set_number(&mut to.location.readings.$member, value),
            })
        } else {
            ReadingColumn::Bytes(BytesColumn {
                id: $column,
                write: |of, out| {
                    of.$member.write(out);
                    of.$member.is_present()
                },
                set: |to, value| set_bytes(&mut to.location.readings.$member, value),
            })
        }
    };
}

reading_fields!(define);

/// Marks that are set or absent.
static MARKS: [NumberColumn; 2] = [
    NumberColumn {
        id: id::LATE,
        set: |to, value| {
            to.trust.late = value.is_some();
            Ok(())
        },
    },
    NumberColumn {
        id: id::SUSPECT,
        set: |to, value| {
            to.trust.suspect = value.is_some();
            Ok(())
        },
    },
];

/// The column of numbers with this id.
pub(super) fn number_column(id: u8) -> Option<&'static NumberColumn> {
    let readings = READINGS.iter().filter_map(|column| match column {
        ReadingColumn::Number(column) => Some(column),
        _ => None,
    });
    MARKS.iter().chain(readings).find(|column| column.id == id)
}

/// The columns of byte strings.
pub(super) fn bytes_columns() -> impl Iterator<Item = &'static BytesColumn> {
    READINGS.iter().filter_map(|column| match column {
        ReadingColumn::Bytes(column) => Some(column),
        _ => None,
    })
}

fn set_number<T: Packed>(to: &mut T, value: Option<i64>) -> Result<(), CodecError> {
    *to = value.map_or_else(|| Ok(T::default()), T::from_number)?;
    Ok(())
}

fn set_bytes<T: Packed>(to: &mut T, value: Option<Reader<'_>>) -> Result<(), CodecError> {
    *to = match value {
        Some(mut input) => {
            let value = T::read(&mut input)?;
            input.end()?;
            value
        }
        None => T::default(),
    };
    Ok(())
}

/// A location to read into: fields without a column keep their value.
pub(super) fn blank() -> StoredLocation {
    StoredLocation {
        location: Location {
            time: Timestamp::from_millis(0),
            latitude: Latitude::from_e7(0),
            longitude: Longitude::from_e7(0),
            readings: Readings::default(),
        },
        received_at: Timestamp::from_millis(0),
        trust: Trust::default(),
        number: 0,
    }
}

/// A number of a narrower type.
pub(super) fn narrow<T: TryFrom<i64>>(value: i64) -> Result<T, CodecError> {
    T::try_from(value).map_err(|_outside| CodecError::Malformed)
}
