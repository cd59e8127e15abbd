//! Reading a location from its row.

use bytes::Bytes;
use perigee_core::error::StoreError;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{Latitude, Longitude, StoredLocation, Trust};
use perigee_core::store::Result;

use super::super::column;
use crate::codec::{CodecError, Point};
use crate::damage::{Damaged, Table};
use crate::error::describe;
use crate::sql::checksum::crc;
use crate::{Row, Tx, params};

/// The columns of the last location that [`last_point`] reads; it is never suspect.
pub(crate) const LAST_COLUMNS: &str =
    "number, time, received_at, latitude, longitude, late, FALSE AS suspect, readings, checksum";

/// The error of packed readings that cannot be read.
pub(crate) fn unreadable_readings(cause: CodecError) -> StoreError {
    column::unreadable("readings", cause)
}

/// The location in a row, with its readings still packed.
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

/// Unpacks a location; one whose readings cannot be read is recorded and skipped.
pub(crate) fn unpack_or_note(
    tx: &Tx,
    account: AccountId,
    device: DeviceId,
    point: &Point,
) -> Option<StoredLocation> {
    let damaged = |cause: CodecError| {
        let row = Damaged::new(Table::LocationLog, cause)
            .of(account, Some(device))
            .with_numbers(point.number, point.number)
            .with_times(point.time, point.time)
            .with_count(1);
        tx.damage().note(&row);
    };
    point.unpack().map_err(damaged).ok()
}

/// The checksum of a device's last location.
pub(crate) fn last_checksum(account: AccountId, device: DeviceId, point: &Point) -> i64 {
    crc(params![
        account,
        device,
        point.number,
        point.time,
        point.received_at,
        point.latitude.as_e7(),
        point.longitude.as_e7(),
        point.trust.late,
        &*point.readings,
    ])
}

/// A last location, unpacked if it matches its stored checksum, or what is known of it if it is damaged.
pub(crate) fn check_last(
    point: &Point,
    kept: Option<i64>,
    account: AccountId,
    device: DeviceId,
) -> std::result::Result<StoredLocation, Box<Damaged>> {
    let reason = if kept.is_some_and(|kept| kept != last_checksum(account, device, point)) {
        "it does not match its checksum".to_owned()
    } else {
        match point.unpack() {
            Ok(stored) => return Ok(stored),
            Err(cause) => cause.to_string(),
        }
    };
    let damaged = Damaged::new(Table::LastLocation, reason).of(account, Some(device)).with_count(1);
    Err(Box::new(damaged.with_numbers(point.number, point.number).with_times(point.time, point.time)))
}

fn unreadable_last(account: AccountId, device: DeviceId, reason: String) -> Damaged {
    Damaged::new(Table::LastLocation, reason).of(account, Some(device)).with_count(1)
}

/// The last location of a device in its row, or what is known of it if it is damaged.
pub(crate) fn checked_last(
    row: &Row,
    account: AccountId,
    device: DeviceId,
) -> std::result::Result<Point, Box<Damaged>> {
    let (point, kept) = match (point_from_row(row), row.opt_i64("checksum")) {
        (Ok(point), Ok(kept)) => (point, kept),
        (Err(cause), _) => return Err(Box::new(unreadable_last(account, device, describe(&cause)))),
        (_, Err(cause)) => return Err(Box::new(unreadable_last(account, device, describe(&cause)))),
    };
    check_last(&point, kept, account, device).map(|_stored| point)
}

/// The last location of a device in its row; a damaged one is recorded, and the device has none until the next.
pub(crate) fn last_point(tx: &Tx, account: AccountId, device: DeviceId, row: &Row) -> Option<Point> {
    checked_last(row, account, device).map_err(|damaged| tx.damage().note(&damaged)).ok()
}
