//! Packing a chunk: every field that some location has becomes a column.

use std::borrow::Cow;

use perigee_core::locations::location::{Latitude, Longitude, Readings, StoredLocation, Trust};
use perigee_core::time::Timestamp;

use super::attribute::attribute_columns;
use super::field::{CORE, bytes_columns, id};
use super::header::{Column, Summary, write_chunk};
use super::numbers::write_numbers;
use super::presence::write_presence;
use super::texts::write_texts;
use crate::codec::batch::Point;
use crate::codec::bytes::{CodecError, Writer};
use crate::codec::readings::{unpack_readings, visit_numbers, visit_packed_numbers};

/// Packs locations of one device, sorted by time and number. Equal locations give equal bytes. Attributes that are
/// infinite or NaN are left out.
pub fn pack_chunk(locations: &[StoredLocation]) -> Vec<u8> {
    let key = |stored: &StoredLocation| (stored.location.time, stored.number);
    let mut sorted = Cow::Borrowed(locations);
    if !sorted.is_sorted_by_key(key) {
        sorted.to_mut().sort_by_key(key);
    }
    let mut builder = ChunkBuilder::with_capacity(sorted.len());
    for stored in sorted.iter() {
        let StoredLocation { location, received_at, trust, number } = stored;
        let position = (location.latitude, location.longitude);
        builder.add_core(location.time, position, *number, *received_at, *trust);
        builder.add_readings(Cow::Borrowed(&location.readings));
    }
    builder.pack()
}

/// Packs sorted locations into the same bytes as [`pack_chunk`], without unpacking readings that are all numbers.
pub fn pack_points(points: &[Point]) -> Result<Vec<u8>, CodecError> {
    let mut builder = ChunkBuilder::with_capacity(points.len());
    for point in points {
        let position = (point.latitude, point.longitude);
        builder.add_core(point.time, position, point.number, point.received_at, point.trust);
        builder.add_packed(&point.readings)?;
    }
    Ok(builder.pack())
}

/// The values of each column.
struct ChunkBuilder<'r> {
    count: usize,
    core: [(u8, Vec<i64>); CORE.len()],
    /// Columns of numbers, by their id.
    numbers: [Sparse<i64>; id::NUMBERS_END],
    /// Readings that may hold more than numbers, with the index of their location.
    rich: Vec<(usize, Cow<'r, Readings>)>,
}

impl<'r> ChunkBuilder<'r> {
    fn with_capacity(count: usize) -> Self {
        Self {
            count: 0,
            core: CORE.map(|id| (id, Vec::with_capacity(count))),
            numbers: std::array::from_fn(|_id| Sparse::default()),
            rich: Vec::new(),
        }
    }

    /// Adds a location with the fields that every location has.
    fn add_core(
        &mut self,
        time: Timestamp,
        (latitude, longitude): (Latitude, Longitude),
        number: i64,
        received_at: Timestamp,
        trust: Trust,
    ) {
        let (latitude, longitude) = (i64::from(latitude.as_e7()), i64::from(longitude.as_e7()));
        let (time, received_at) = (time.as_millis(), received_at.as_millis());
        let values = [time, latitude, longitude, number, received_at, received_at - time];
        for ((_, column), value) in self.core.iter_mut().zip(values) {
            column.push(value);
        }
        let index = self.count;
        for (is_set, id) in [(trust.late, id::LATE), (trust.suspect, id::SUSPECT)] {
            if is_set {
                self.numbers[usize::from(id)].add(index, 1);
            }
        }
        self.count += 1;
    }

    /// Adds the readings of the location added last.
    fn add_readings(&mut self, readings: Cow<'r, Readings>) {
        let index = self.count - 1;
        visit_numbers(&readings, |column, value| self.numbers[usize::from(column)].add(index, value));
        self.rich.push((index, readings));
    }

    /// Adds packed readings of the location added last.
    fn add_packed(&mut self, readings: &[u8]) -> Result<(), CodecError> {
        let index = self.count - 1;
        let all_numbers = visit_packed_numbers(readings, |column, value| {
            self.numbers[usize::from(column)].add(index, value);
        })?;
        if !all_numbers {
            self.add_readings(Cow::Owned(unpack_readings(readings)?));
        }
        Ok(())
    }

    fn pack(self) -> Vec<u8> {
        let Self { count, core, numbers, rich } = self;
        let time = |time: Option<&i64>| Timestamp::from_millis(time.copied().unwrap_or_default());
        let (_, times) = &core[0];
        let summary = Summary { count, first: time(times.first()), last: time(times.last()) };
        let full = core.into_iter().filter_map(|(id, values)| {
            let column = Sparse { present: vec![true; values.len()], values };
            Some(Column { id, body: column.pack(Writer::default(), count, write_numbers)? })
        });
        let mut columns: Vec<_> = full.collect();
        keep_shorter(&mut columns, id::RECEIVED_AT, id::DELAY);
        columns.extend((0..).zip(numbers).filter_map(|(id, column)| {
            Some(Column { id, body: column.pack(Writer::default(), count, write_numbers)? })
        }));
        columns.extend(text_columns(&rich, count));
        columns.extend(attribute_columns(&rich, count));
        // Stable, so that the columns of attributes stay in the order of their keys.
        columns.sort_by_key(|column| column.id);
        write_chunk(summary, &columns)
    }
}

/// Removes the longer of two columns with the same content.
fn keep_shorter(columns: &mut Vec<Column<Vec<u8>>>, one: u8, other: u8) {
    let index = |id| columns.iter().position(|column| column.id == id);
    if let (Some(one), Some(other)) = (index(one), index(other)) {
        let longer = if columns[one].body.len() > columns[other].body.len() { one } else { other };
        columns.remove(longer);
    }
}

fn text_columns(rich: &[(usize, Cow<'_, Readings>)], count: usize) -> Vec<Column<Vec<u8>>> {
    let packed = bytes_columns().filter_map(|field| {
        let mut column: Sparse<Vec<u8>> = Sparse::default();
        for (index, readings) in rich {
            let mut out = Writer::default();
            if (field.write)(readings, &mut out) {
                column.add(*index, out.into_bytes());
            }
        }
        Some(Column { id: field.id, body: column.pack(Writer::default(), count, write_texts)? })
    });
    packed.collect()
}

/// The values of a column, and which locations have one.
pub(super) struct Sparse<T> {
    present: Vec<bool>,
    values: Vec<T>,
}

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Self { present: Vec::new(), values: Vec::new() }
    }
}

impl<T> Sparse<T> {
    /// Adds the value of the location at this index, which must be greater than those before.
    pub(super) fn add(&mut self, index: usize, value: T) {
        self.present.resize(index, false);
        self.present.push(true);
        self.values.push(value);
    }

    pub(super) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Writes which of `count` locations have a value, then the values; `None` if no location has one.
    pub(super) fn pack(
        mut self,
        mut out: Writer,
        count: usize,
        write: impl FnOnce(&mut Writer, &[T]),
    ) -> Option<Vec<u8>> {
        if self.values.is_empty() {
            return None;
        }
        self.present.resize(count, false);
        write_presence(&mut out, &self.present);
        write(&mut out, &self.values);
        Some(out.into_bytes())
    }
}
