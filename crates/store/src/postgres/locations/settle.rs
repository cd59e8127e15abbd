//! Updating device states after a batch: last locations, contact times, counts of unpacked locations.

use std::collections::BTreeSet;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::time::Timestamp;

use super::known::Known;
use super::log::FULL_CHUNK;
use crate::codec::Point;
use crate::error::DbError;
use crate::postgres::{Param, Session};
use crate::sql::locations::{Arrivals, PACK_AFTER_MS, last_checksum};

/// A device with a full chunk is due to be packed at once, others after some time. Without a new last location its columns
/// are null, and the one that is there stays.
const STATES: &str = "INSERT INTO device_live \
        (last_seen, account_id, device_id, unpacked, newest_time, rhythm, doubt, last_number, last_time, \
         last_received_at, last_latitude, last_longitude, last_late, last_readings, last_checksum, licensed, expires, \
         pack_due) \
    SELECT CAST($1 AS BIGINT), w.*, CASE WHEN w.unpacked >= CAST($2 AS BIGINT) THEN 0 \
        WHEN w.unpacked > 0 THEN CAST($3 AS BIGINT) END \
    FROM unnest(CAST($4 AS BIGINT[]), CAST($5 AS BIGINT[]), CAST($6 AS BIGINT[]), CAST($7 AS BIGINT[]), \
        CAST($8 AS BYTEA[]), CAST($9 AS BYTEA[]), CAST($10 AS BIGINT[]), CAST($11 AS BIGINT[]), \
        CAST($12 AS BIGINT[]), CAST($13 AS INTEGER[]), CAST($14 AS INTEGER[]), CAST($15 AS BOOLEAN[]), \
        CAST($16 AS BYTEA[]), CAST($17 AS BIGINT[]), CAST($18 AS BOOLEAN[]), CAST($19 AS BIGINT[])) \
        AS w (account_id, device_id, unpacked, newest_time, rhythm, doubt, number, time, received_at, latitude, \
              longitude, late, readings, checksum, licensed, expires) \
    ON CONFLICT (account_id, device_id) DO UPDATE SET \
        last_seen = GREATEST(excluded.last_seen, device_live.last_seen), \
        rhythm = excluded.rhythm, doubt = excluded.doubt, licensed = excluded.licensed, expires = excluded.expires, \
        newest_time = GREATEST(excluded.newest_time, device_live.newest_time), \
        pack_due = CASE WHEN device_live.unpacked + excluded.unpacked >= CAST($2 AS BIGINT) THEN 0 \
                   ELSE COALESCE(device_live.pack_due, excluded.pack_due) END, \
        unpacked = device_live.unpacked + excluded.unpacked, \
        last_number = COALESCE(excluded.last_number, device_live.last_number), \
        last_time = COALESCE(excluded.last_time, device_live.last_time), \
        last_received_at = COALESCE(excluded.last_received_at, device_live.last_received_at), \
        last_latitude = COALESCE(excluded.last_latitude, device_live.last_latitude), \
        last_longitude = COALESCE(excluded.last_longitude, device_live.last_longitude), \
        last_late = COALESCE(excluded.last_late, device_live.last_late), \
        last_readings = COALESCE(excluded.last_readings, device_live.last_readings), \
        last_checksum = COALESCE(excluded.last_checksum, device_live.last_checksum)";

/// A licence that was once seen to be expired stays so, even if the clock is set back.
const LAPSE: &str = "UPDATE device d SET licensed = FALSE, checksum = d.checksum - 1 \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS w (account_id, id) \
    WHERE d.account_id = w.account_id AND d.id = w.id AND d.licensed";

/// The same beside the state.
const LAPSE_STATE: &str = "UPDATE device_live v SET licensed = FALSE \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS w (account_id, id) \
    WHERE v.account_id = w.account_id AND v.device_id = w.id AND v.licensed";

/// Prepares the statements that every batch needs.
pub(super) async fn prepare(session: &Session) -> std::result::Result<(), DbError> {
    session.prepare_native([STATES]).await.map(drop)
}

/// Writes all updates with the commit.
pub(super) async fn settle_with_commit(
    session: &Session,
    now: Timestamp,
    known: &Known,
    arrivals: &Arrivals,
) -> std::result::Result<(), DbError> {
    save_states(session, now, known, arrivals).await?;
    let lapsed: BTreeSet<(i64, i64)> = known
        .devices
        .iter()
        .filter(|(_, device)| device.lapsed)
        .map(|((account, device), _)| (account.as_i64(), device.as_i64()))
        .collect();
    if !lapsed.is_empty() {
        let (accounts, devices): (Vec<i64>, Vec<i64>) = lapsed.into_iter().unzip();
        for statement in session.prepare_native([LAPSE, LAPSE_STATE]).await? {
            session.defer(statement, vec![Box::new(accounts.clone()), Box::new(devices.clone())]);
        }
    }
    Ok(())
}

/// The states of devices after a batch, column by column.
#[derive(Default)]
struct Columns {
    account: Vec<i64>,
    device: Vec<i64>,
    unpacked: Vec<i64>,
    newest: Vec<Option<i64>>,
    rhythm: Vec<Vec<u8>>,
    unconfirmed: Vec<Vec<u8>>,
    last: LastColumns,
    licensed: Vec<Option<bool>>,
    expires: Vec<Option<i64>>,
}

/// The last locations; null where they do not change.
#[derive(Default)]
struct LastColumns {
    number: Vec<Option<i64>>,
    time: Vec<Option<i64>>,
    received_at: Vec<Option<i64>>,
    latitude: Vec<Option<i32>>,
    longitude: Vec<Option<i32>>,
    late: Vec<Option<bool>>,
    readings: Vec<Option<Vec<u8>>>,
    checksum: Vec<Option<i64>>,
}

impl LastColumns {
    fn push(&mut self, (account, device): (AccountId, DeviceId), last: Option<&Point>) {
        self.number.push(last.map(|last| last.number));
        self.time.push(last.map(|last| last.time.as_millis()));
        self.received_at.push(last.map(|last| last.received_at.as_millis()));
        self.latitude.push(last.map(|last| last.latitude.as_e7()));
        self.longitude.push(last.map(|last| last.longitude.as_e7()));
        self.late.push(last.map(|last| last.trust.late));
        self.readings.push(last.map(|last| last.readings.to_vec()));
        self.checksum.push(last.map(|last| last_checksum(account, device, last)));
    }
}

/// Records one contact of each device, its count of unpacked locations, their latest time, and its last location if that
/// changes.
async fn save_states(
    session: &Session,
    now: Timestamp,
    known: &Known,
    arrivals: &Arrivals,
) -> std::result::Result<(), DbError> {
    if arrivals.is_empty() {
        return Ok(());
    }
    let mut columns = Columns::default();
    for (key, arrival) in arrivals {
        let device = known.devices.get(key);
        let mut rhythm = device.map(|device| device.rhythm.clone()).unwrap_or_default();
        rhythm.hear(now);
        columns.account.push(key.0.as_i64());
        columns.device.push(key.1.as_i64());
        columns.unpacked.push(i64::try_from(arrival.points.len()).unwrap_or(i64::MAX));
        columns.newest.push(arrival.points.iter().map(|point| point.time.as_millis()).max());
        columns.rhythm.push(rhythm.to_bytes());
        columns.unconfirmed.push(arrival.jump_detector.unconfirmed.to_bytes());
        columns.last.push(*key, arrival.last());
        columns.licensed.push(device.map(|device| device.license.licensed));
        columns.expires.push(device.and_then(|device| device.license.expires).map(Timestamp::as_millis));
    }
    let [statement] = session.prepare_native([STATES]).await?;
    let params: Vec<Param> = vec![
        Box::new(now.as_millis()),
        Box::new(i64::try_from(FULL_CHUNK).unwrap_or(i64::MAX)),
        Box::new(now.plus_millis(PACK_AFTER_MS).as_millis()),
        Box::new(columns.account),
        Box::new(columns.device),
        Box::new(columns.unpacked),
        Box::new(columns.newest),
        Box::new(columns.rhythm),
        Box::new(columns.unconfirmed),
        Box::new(columns.last.number),
        Box::new(columns.last.time),
        Box::new(columns.last.received_at),
        Box::new(columns.last.latitude),
        Box::new(columns.last.longitude),
        Box::new(columns.last.late),
        Box::new(columns.last.readings),
        Box::new(columns.last.checksum),
        Box::new(columns.licensed),
        Box::new(columns.expires),
    ];
    session.defer(statement, params);
    Ok(())
}
