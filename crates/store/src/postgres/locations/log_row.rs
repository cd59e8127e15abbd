//! A row of the log: one location, compared with the hash of its content before it is returned.

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::StoredLocation;
use perigee_core::store::Result;

use crate::codec::Point;
use crate::damage::{Damaged, Table};
use crate::sql::identity::Identity;
use crate::sql::locations::point_from_row;
use crate::{Row, Tx};

/// The columns these functions read, beside the device.
pub(crate) const COLUMNS: &str =
    "number, time, received_at, latitude, longitude, late, suspect, hash, readings";

/// The location in a row of the log, or what is known of it if it is damaged.
pub(crate) fn checked(
    row: &Row,
    account: AccountId,
    device: DeviceId,
) -> Result<std::result::Result<(Point, StoredLocation), Damaged>> {
    let point = point_from_row(row)?;
    let damaged = |reason: &dyn std::fmt::Display| {
        Damaged::new(Table::LocationLog, reason)
            .of(account, Some(device))
            .with_numbers(point.number, point.number)
            .with_times(point.time, point.time)
            .with_count(1)
    };
    if Identity::of_point(&point).hash.as_slice() != row.bytes_ref("hash")? {
        return Ok(Err(damaged(&"its content does not match its hash")));
    }
    Ok(match point.unpack() {
        Ok(stored) => Ok((point, stored)),
        Err(cause) => Err(damaged(&cause)),
    })
}

/// The location in a row of the log; a damaged one is recorded and skipped.
pub(super) fn readable(
    tx: &Tx,
    row: &Row,
    account: AccountId,
    device: DeviceId,
) -> Result<Option<(Point, StoredLocation)>> {
    Ok(checked(row, account, device)?.map_err(|damaged| tx.damage().note(&damaged)).ok())
}

/// The same for a row that includes its device.
pub(super) fn readable_of(
    tx: &Tx,
    row: &Row,
    account: AccountId,
) -> Result<Option<(DeviceId, StoredLocation)>> {
    let device = DeviceId::from_i64(row.i64("device_id")?);
    Ok(readable(tx, row, account, device)?.map(|(_, stored)| (device, stored)))
}
