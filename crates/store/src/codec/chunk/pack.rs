//! Packing: every field that some location has becomes a column.

use std::borrow::Cow;

use perigee_core::location::StoredLocation;
use perigee_core::time::Timestamp;

use super::attribute::attribute_columns;
use super::field::{CORE, NUMBERS, TEXTS, id};
use super::header::{Column, Summary, write_chunk};
use super::numbers::write_numbers;
use super::presence::write_answers;
use super::texts::write_texts;
use crate::codec::bytes::Writer;

/// Locations whose fields are gathered together.
const BATCH: usize = 32;

/// Packs locations of one device, which come back sorted by time and number. Equal locations give equal bytes.
///
/// As in a single packing of readings, a real that is no number is left out.
pub fn pack_chunk(locations: &[StoredLocation]) -> Vec<u8> {
    let key = |stored: &StoredLocation| (stored.location.time, stored.number);
    let mut locations = Cow::Borrowed(locations);
    if !locations.is_sorted_by_key(key) {
        locations.to_mut().sort_by_key(key);
    }
    let mut columns = core_columns(&locations);
    keep_shorter(&mut columns, id::RECEIVED_AT, id::DELAY);
    columns.extend(number_columns(&locations));
    columns.extend(text_columns(&locations));
    columns.extend(attribute_columns(&locations));
    let time = |stored: Option<&StoredLocation>| {
        stored.map_or(Timestamp::from_millis(0), |stored| stored.location.time)
    };
    let summary =
        Summary { count: locations.len(), first: time(locations.first()), last: time(locations.last()) };
    write_chunk(summary, &columns)
}

/// Of two columns that tell the same, the longer one goes.
fn keep_shorter(columns: &mut Vec<Column<Vec<u8>>>, one: u8, other: u8) {
    let place = |id| columns.iter().position(|column| column.id == id);
    if let (Some(one), Some(other)) = (place(one), place(other)) {
        let longer = if columns[one].body.len() > columns[other].body.len() { one } else { other };
        columns.remove(longer);
    }
}

fn core_columns(locations: &[StoredLocation]) -> Vec<Column<Vec<u8>>> {
    let packed = CORE.iter().filter_map(|field| {
        let column: Sparse<i64> = locations.iter().map(field.get).collect();
        Some(Column { id: field.id, body: column.pack(Writer::default(), locations.len(), write_numbers)? })
    });
    packed.collect()
}

fn number_columns(locations: &[StoredLocation]) -> Vec<Column<Vec<u8>>> {
    let mut columns: Vec<Sparse<i64>> = NUMBERS.iter().map(|_| Sparse::default()).collect();
    for (batch, start) in batches(locations) {
        for (field, column) in NUMBERS.iter().zip(&mut columns) {
            for (place, stored) in (start..).zip(batch) {
                if let Some(number) = (field.get)(stored) {
                    column.add(place, number);
                }
            }
        }
    }
    let packed = NUMBERS.iter().zip(columns).filter_map(|(field, column)| {
        let body = column.pack(Writer::default(), locations.len(), write_numbers)?;
        Some(Column { id: field.id, body })
    });
    packed.collect()
}

fn text_columns(locations: &[StoredLocation]) -> Vec<Column<Vec<u8>>> {
    let mut columns: Vec<Sparse<Vec<u8>>> = TEXTS.iter().map(|_| Sparse::default()).collect();
    for (batch, start) in batches(locations) {
        for (field, column) in TEXTS.iter().zip(&mut columns) {
            for (place, stored) in (start..).zip(batch) {
                let mut out = Writer::default();
                if (field.get)(stored, &mut out).is_some() {
                    column.add(place, out.into_bytes());
                }
            }
        }
    }
    let packed = TEXTS.iter().zip(columns).filter_map(|(field, column)| {
        let body = column.pack(Writer::default(), locations.len(), write_texts)?;
        Some(Column { id: field.id, body })
    });
    packed.collect()
}

/// Locations few enough to stay near the processor while all their fields are gone through, and the place of the first.
fn batches(locations: &[StoredLocation]) -> impl Iterator<Item = (&[StoredLocation], usize)> {
    locations.chunks(BATCH).zip((0..).step_by(BATCH))
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

impl<T> FromIterator<T> for Sparse<T> {
    /// A value for every location.
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        let values: Vec<T> = values.into_iter().collect();
        Self { there: vec![true; values.len()], values }
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
