//! A location from its row.

use perigee_core::location::{Latitude, Location, Longitude, StoredLocation, Trust};
use perigee_core::store::Result;

use super::super::column;
use crate::Row;
use crate::codec::unpack_readings;

/// The columns [`from_row`] reads.
pub(super) const COLUMNS: &str = "number, time, received_at, latitude, longitude, late, suspect, readings";
/// The same of the last location, which is never suspect.
pub(super) const LAST_COLUMNS: &str =
    "number, time, received_at, latitude, longitude, late, FALSE AS suspect, readings";

pub(super) fn from_row(row: &Row) -> Result<StoredLocation> {
    let readings = unpack_readings(&row.bytes("readings")?);
    Ok(StoredLocation {
        location: Location {
            time: row.timestamp("time")?,
            latitude: Latitude::from_e7(row.int("latitude")?),
            longitude: Longitude::from_e7(row.int("longitude")?),
            readings: readings.map_err(|cause| column::unreadable("readings", cause))?,
        },
        received_at: row.timestamp("received_at")?,
        trust: Trust { late: row.bool("late")?, suspect: row.bool("suspect")? },
        number: row.i64("number")?,
    })
}
