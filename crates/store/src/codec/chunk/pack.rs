//! Packing: every field that some location has becomes a column.

use std::borrow::Cow;

use perigee_core::location::{Latitude, Longitude, Readings, StoredLocation, Trust};
use perigee_core::time::Timestamp;

use super::attribute::attribute_columns;
use super::field::{CORE, NUMBERS, TEXTS, id};
use super::header::{Column, Summary, write_chunk};
use super::numbers::write_numbers;
use super::presence::write_answers;
use super::texts::write_texts;
use crate::codec::batch::Point;
use crate::codec::bytes::{CodecError, Writer};
use crate::codec::measure::{tell_readings, tell_trust};
use crate::codec::readings::{tell_packed, unpack_readings};

/// Packs locations of one device, which come back sorted by time and number. Equal locations give equal bytes.
///
/// As in a single packing of readings, a real that is no number is left out.
pub fn pack_chunk(locations: &[StoredLocation]) -> Vec<u8> {
    let key = |stored: &StoredLocation| (stored.location.time, stored.number);
    let mut sorted = Cow::Borrowed(locations);
    if !sorted.is_sorted_by_key(key) {
        sorted.to_mut().sort_by_key(key);
    }
    let mut gathered = Gathered::with_capacity(sorted.len());
    for stored in sorted.iter() {
        let StoredLocation { location, received_at, trust, number } = stored;
        let place = (location.latitude, location.longitude);
        gathered.add_core(location.time, place, *number, *received_at, *trust);
        gathered.add_readings(Cow::Borrowed(&location.readings));
    }
    gathered.pack()
}

/// Packs locations, sorted, into the same bytes without unpacking their readings, if these can be read.
pub fn pack_points(points: &[Point]) -> Result<Vec<u8>, CodecError> {
    let mut gathered = Gathered::with_capacity(points.len());
    for point in points {
        let place = (point.latitude, point.longitude);
        gathered.add_core(point.time, place, point.number, point.received_at, point.trust);
        gathered.add_packed(&point.readings)?;
    }
    Ok(gathered.pack())
}

/// The fields of locations, by columns.
struct Gathered<'r> {
    count: usize,
    core: [(u8, Vec<i64>); CORE.len()],
    numbers: Vec<Sparse<i64>>,
    /// Readings with more than numbers in them, and of which location.
    rich: Vec<(usize, Cow<'r, Readings>)>,
}

impl<'r> Gathered<'r> {
    fn with_capacity(count: usize) -> Self {
        Self {
            count: 0,
            core: CORE.map(|id| (id, Vec::with_capacity(count))),
            numbers: NUMBERS.iter().map(|_| Sparse::default()).collect(),
            rich: Vec::new(),
        }
    }

    /// Begins the next location with what every one has.
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
        let place = self.count;
        tell_trust(trust, |measure, value| self.numbers[measure as usize].add(place, value));
        self.count += 1;
    }

    /// Adds the readings of the location that was begun.
    fn add_readings(&mut self, readings: Cow<'r, Readings>) {
        let place = self.count - 1;
        tell_readings(&readings, |measure, value| self.numbers[measure as usize].add(place, value));
        self.rich.push((place, readings));
    }

    /// Adds packed readings of the location that was begun.
    fn add_packed(&mut self, readings: &[u8]) -> Result<(), CodecError> {
        let place = self.count - 1;
        let told = tell_packed(readings, |measure, value| self.numbers[measure as usize].add(place, value))?;
        if !told {
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
            let column = Sparse { there: vec![true; values.len()], values };
            Some(Column { id, body: column.pack(Writer::default(), count, write_numbers)? })
        });
        let mut columns: Vec<_> = full.collect();
        keep_shorter(&mut columns, id::RECEIVED_AT, id::DELAY);
        columns.extend(NUMBERS.iter().zip(numbers).filter_map(|(field, column)| {
            Some(Column { id: field.id, body: column.pack(Writer::default(), count, write_numbers)? })
        }));
        columns.extend(text_columns(&rich, count));
        columns.extend(attribute_columns(&rich, count));
        write_chunk(summary, &columns)
    }
}

/// Of two columns that tell the same, the longer one goes.
fn keep_shorter(columns: &mut Vec<Column<Vec<u8>>>, one: u8, other: u8) {
    let place = |id| columns.iter().position(|column| column.id == id);
    if let (Some(one), Some(other)) = (place(one), place(other)) {
        let longer = if columns[one].body.len() > columns[other].body.len() { one } else { other };
        columns.remove(longer);
    }
}

fn text_columns(rich: &[(usize, Cow<'_, Readings>)], count: usize) -> Vec<Column<Vec<u8>>> {
    let packed = TEXTS.iter().filter_map(|field| {
        let mut column: Sparse<Vec<u8>> = Sparse::default();
        for (place, readings) in rich {
            let mut out = Writer::default();
            if (field.get)(readings, &mut out).is_some() {
                column.add(*place, out.into_bytes());
            }
        }
        Some(Column { id: field.id, body: column.pack(Writer::default(), count, write_texts)? })
    });
    packed.collect()
}

/// The values of a field, and which locations have one.
pub(super) struct Sparse<T> {
    there: Vec<bool>,
    values: Vec<T>,
}

impl<T> Default for Sparse<T> {
    fn default() -> Self {
        Self { there: Vec::new(), values: Vec::new() }
    }
}

impl<T> Sparse<T> {
    /// A value for the location at this place, which comes after all that have one.
    pub(super) fn add(&mut self, place: usize, value: T) {
        self.there.resize(place, false);
        self.there.push(true);
        self.values.push(value);
    }

    pub(super) fn values_mut(&mut self) -> &mut [T] {
        &mut self.values
    }

    /// Writes which of so many locations have a value, then the values; `None` when there are none.
    pub(super) fn pack(
        mut self,
        mut out: Writer,
        count: usize,
        write: impl FnOnce(&mut Writer, &[T]),
    ) -> Option<Vec<u8>> {
        if self.values.is_empty() {
            return None;
        }
        self.there.resize(count, false);
        write_answers(&mut out, &self.there);
        write(&mut out, &self.values);
        Some(out.into_bytes())
    }
}
