//! A location from its row.

use bytes::Bytes;
use perigee_core::error::StoreError;
use perigee_core::location::{Latitude, Longitude, StoredLocation, Trust};
use perigee_core::store::Result;

use super::super::column;
use crate::Row;
use crate::codec::{CodecError, Point};

/// The columns [`from_row`] reads.
pub(crate) const COLUMNS: &str = "number, time, received_at, latitude, longitude, late, suspect, readings";
/// The same of the last location, which is never suspect.
pub(super) const LAST_COLUMNS: &str =
    "number, time, received_at, latitude, longitude, late, FALSE AS suspect, readings";

/// Packed readings that cannot be read.
pub(crate) fn unreadable_readings(cause: CodecError) -> StoreError {
    column::unreadable("readings", cause)
}

/// A location whose readings stay packed; a row of the last location has no `suspect` that is true.
pub(crate) fn point_from_row(row: &Row) -> Result<Point> {
    Ok(Point {
        time: row.timestamp("time")?,
        number: row.i64("number")?,
        received_at: row.timestamp("received_at")?,
        latitude: Latitude::from_e7(row.int("latitude")?),
        longitude: Longitude::from_e7(row.int("longitude")?),
        trust: Trust { late: row.bool("late")?, suspect: row.bool("suspect")? },
        readings: Bytes::copy_from_slice(row.bytes_ref("readings")?),
    })
}

/// A location.
pub(crate) fn from_row(row: &Row) -> Result<StoredLocation> {
    point_from_row(row)?.unpack().map_err(unreadable_readings)
}
