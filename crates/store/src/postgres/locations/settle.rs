//! Updating device states after a batch: last locations, contact times, counts of unpacked locations.

use std::collections::BTreeSet;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::time::Timestamp;

use super::known::Known;
use crate::codec::Point;
use crate::error::DbError;
use crate::postgres::{Param, Session};
use crate::sql::locations::{Arrivals, CHUNK_FULL, PACK_AFTER_MS, last_checksum};

const LAST: &str = "INSERT INTO last_location (account_id, device_id, number, time, received_at, \
                                               latitude, longitude, late, readings, checksum) \
    SELECT * FROM unnest( \
        CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), \
        CAST($5 AS BIGINT[]), CAST($6 AS INTEGER[]), CAST($7 AS INTEGER[]), CAST($8 AS BOOLEAN[]), \
        CAST($9 AS BYTEA[]), CAST($10 AS BIGINT[])) \
    ON CONFLICT (account_id, device_id) DO UPDATE SET number = excluded.number, time = excluded.time, \
        received_at = excluded.received_at, latitude = excluded.latitude, longitude = excluded.longitude, \
        late = excluded.late, readings = excluded.readings, checksum = excluded.checksum";

/// A device with a full chunk is due to be packed at once, others after some time.
const CONTACTS: &str = "INSERT INTO device_live \
        (last_seen, account_id, device_id, unpacked, newest_time, rhythm, doubt, pack_due) \
    SELECT CAST($1 AS BIGINT), w.*, CASE WHEN w.unpacked >= CAST($8 AS BIGINT) THEN 0 \
        WHEN w.unpacked > 0 THEN CAST($9 AS BIGINT) END \
    FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), CAST($5 AS BIGINT[]), \
        CAST($6 AS BYTEA[]), CAST($7 AS BYTEA[])) \
        AS w (account_id, device_id, unpacked, newest_time, rhythm, doubt) \
    ON CONFLICT (account_id, device_id) DO UPDATE SET \
        last_seen = GREATEST(excluded.last_seen, device_live.last_seen), \
        rhythm = excluded.rhythm, doubt = excluded.doubt, \
        newest_time = GREATEST(excluded.newest_time, device_live.newest_time), \
        pack_due = CASE WHEN device_live.unpacked + excluded.unpacked >= CAST($8 AS BIGINT) THEN 0 \
                   ELSE COALESCE(device_live.pack_due, excluded.pack_due) END, \
        unpacked = device_live.unpacked + excluded.unpacked";

/// A licence that was once seen to be expired stays so, even if the clock is set back.
const LAPSE: &str = "UPDATE device d SET licensed = FALSE, checksum = d.checksum - 1 \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS w (account_id, id) \
    WHERE d.account_id = w.account_id AND d.id = w.id AND d.licensed";

/// Prepares the statements that every batch needs.
pub(super) async fn prepare(session: &Session) -> std::result::Result<(), DbError> {
    session.prepare_native([LAST, CONTACTS]).await.map(drop)
}

/// Writes all updates with the commit.
pub(super) async fn settle_with_commit(
    session: &Session,
    now: Timestamp,
    known: &Known,
    arrivals: &Arrivals,
) -> std::result::Result<(), DbError> {
    advance(session, arrivals).await?;
    record_contacts(session, now, known, arrivals).await?;
    let lapsed: BTreeSet<(i64, i64)> = known
        .devices
        .iter()
        .filter(|(_, device)| device.lapsed)
        .map(|((account, device), _)| (account.as_i64(), device.as_i64()))
        .collect();
    if !lapsed.is_empty() {
        let (accounts, devices): (Vec<i64>, Vec<i64>) = lapsed.into_iter().unzip();
        let [statement] = session.prepare_native([LAPSE]).await?;
        session.defer(statement, vec![Box::new(accounts), Box::new(devices)]);
    }
    Ok(())
}

/// The last locations that change, column by column.
#[derive(Default)]
struct Columns {
    account: Vec<i64>,
    device: Vec<i64>,
    number: Vec<i64>,
    time: Vec<i64>,
    received_at: Vec<i64>,
    latitude: Vec<i32>,
    longitude: Vec<i32>,
    late: Vec<bool>,
    readings: Vec<Vec<u8>>,
    checksum: Vec<i64>,
}

impl Columns {
    fn push(&mut self, (account, device): (AccountId, DeviceId), last: &Point) {
        self.account.push(account.as_i64());
        self.device.push(device.as_i64());
        self.number.push(last.number);
        self.time.push(last.time.as_millis());
        self.received_at.push(last.received_at.as_millis());
        self.latitude.push(last.latitude.as_e7());
        self.longitude.push(last.longitude.as_e7());
        self.late.push(last.trust.late);
        self.readings.push(last.readings.to_vec());
        self.checksum.push(last_checksum(account, device, last));
    }
}

/// Writes the last locations that change.
async fn advance(session: &Session, arrivals: &Arrivals) -> std::result::Result<(), DbError> {
    let mut columns = Columns::default();
    for (key, arrival) in arrivals {
        if let Some(last) = arrival.last() {
            columns.push(*key, last);
        }
    }
    if columns.account.is_empty() {
        return Ok(());
    }
    let [statement] = session.prepare_native([LAST]).await?;
    let params: Vec<Param> = vec![
        Box::new(columns.account),
        Box::new(columns.device),
        Box::new(columns.number),
        Box::new(columns.time),
        Box::new(columns.received_at),
        Box::new(columns.latitude),
        Box::new(columns.longitude),
        Box::new(columns.late),
        Box::new(columns.readings),
        Box::new(columns.checksum),
    ];
    session.defer(statement, params);
    Ok(())
}

/// Records one contact of each device, its count of unpacked locations and their latest time.
async fn record_contacts(
    session: &Session,
    now: Timestamp,
    known: &Known,
    arrivals: &Arrivals,
) -> std::result::Result<(), DbError> {
    if arrivals.is_empty() {
        return Ok(());
    }
    let accounts: Vec<i64> = arrivals.keys().map(|(account, _)| account.as_i64()).collect();
    let devices: Vec<i64> = arrivals.keys().map(|(_, device)| device.as_i64()).collect();
    let (mut counts, mut newest) = (Vec::with_capacity(devices.len()), Vec::with_capacity(devices.len()));
    let (mut rhythms, mut jumps) = (Vec::with_capacity(devices.len()), Vec::with_capacity(devices.len()));
    for (key, arrival) in arrivals {
        counts.push(i64::try_from(arrival.points.len()).unwrap_or(i64::MAX));
        newest.push(arrival.points.iter().map(|point| point.time.as_millis()).max());
        let mut rhythm = known.devices.get(key).map(|device| device.rhythm.clone()).unwrap_or_default();
        rhythm.hear(now);
        rhythms.push(rhythm.to_bytes());
        jumps.push(arrival.jump_detector.unconfirmed.to_bytes());
    }
    let [statement] = session.prepare_native([CONTACTS]).await?;
    let params: Vec<Param> = vec![
        Box::new(now.as_millis()),
        Box::new(accounts),
        Box::new(devices),
        Box::new(counts),
        Box::new(newest),
        Box::new(rhythms),
        Box::new(jumps),
        Box::new(i64::try_from(CHUNK_FULL).unwrap_or(i64::MAX)),
        Box::new(now.plus_millis(PACK_AFTER_MS).as_millis()),
    ];
    session.defer(statement, params);
    Ok(())
}
