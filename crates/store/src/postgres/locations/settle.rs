//! Updating device states after a batch: last locations, contact times, counts of unpacked locations.

use perigee_core::devices::reporting_interval::ReportingInterval;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::time::Timestamp;

use super::known::{Device, Known};
use super::log::FULL_CHUNK;
use crate::batch_statement::BatchStatement;
use crate::codec::Point;
use crate::error::DbError;
use crate::postgres::{Param, Session};
use crate::sql::locations::state_row::StateRow;
use crate::sql::locations::{Arrival, Arrivals, PACK_AFTER_MS, last_checksum};

macro_rules! states {
    ($head:literal, $columns:literal, $tail:literal) => {
        concat!(
            "INSERT INTO device_live ",
            "(account_id, device_id, unpacked, last_seen, newest_time, rhythm, doubt, last_number, last_time, ",
            "last_received_at, last_latitude, last_longitude, last_late, last_readings, last_checksum, licensed, ",
            "expires, checksum, pack_due) SELECT ",
            $head,
            "w.*, CASE WHEN w.unpacked >= CAST($1 AS BIGINT) THEN 0 ",
            "WHEN w.unpacked > 0 THEN CAST($2 AS BIGINT) END FROM ",
            $columns,
            "CAST($4 AS BIGINT[]), CAST($5 AS BIGINT[]), CAST($6 AS BIGINT[]), ",
            "CAST($7 AS BIGINT[]), CAST($8 AS BYTEA[]), CAST($9 AS BYTEA[]), CAST($10 AS BIGINT[]), ",
            "CAST($11 AS BIGINT[]), CAST($12 AS BIGINT[]), CAST($13 AS INTEGER[]), CAST($14 AS INTEGER[]), ",
            "CAST($15 AS BOOLEAN[]), CAST($16 AS BYTEA[]), CAST($17 AS BIGINT[]), CAST($18 AS BOOLEAN[]), ",
            "CAST($19 AS BIGINT[]), CAST($20 AS BIGINT[])) AS w ",
            $tail,
            "device_id, unpacked, last_seen, newest_time, rhythm, doubt, number, time, received_at, ",
            "latitude, longitude, late, readings, last_checksum, licensed, expires, checksum) "
        )
    };
}

macro_rules! on_conflict {
    () => {
        "ON CONFLICT (account_id, device_id) DO UPDATE SET \
            last_seen = excluded.last_seen, newest_time = excluded.newest_time, rhythm = excluded.rhythm, \
            doubt = excluded.doubt, licensed = excluded.licensed, expires = excluded.expires, \
            checksum = excluded.checksum, \
            pack_due = CASE WHEN device_live.unpacked + excluded.unpacked >= CAST($1 AS BIGINT) THEN 0 \
                       ELSE COALESCE(device_live.pack_due, excluded.pack_due) END, \
            unpacked = device_live.unpacked + excluded.unpacked, \
            last_number = COALESCE(excluded.last_number, device_live.last_number), \
            last_time = COALESCE(excluded.last_time, device_live.last_time), \
            last_received_at = COALESCE(excluded.last_received_at, device_live.last_received_at), \
            last_latitude = COALESCE(excluded.last_latitude, device_live.last_latitude), \
            last_longitude = COALESCE(excluded.last_longitude, device_live.last_longitude), \
            last_late = COALESCE(excluded.last_late, device_live.last_late), \
            last_readings = COALESCE(excluded.last_readings, device_live.last_readings), \
            last_checksum = COALESCE(excluded.last_checksum, device_live.last_checksum)"
    };
}

/// A device with a full chunk is due to be packed immediately, others after some time. If there is no new last
/// location, its columns are null in the input and stay as they are in the table. The row is locked, so that its other
/// columns, which the new checksum covers, do not change.
const STATES: BatchStatement = BatchStatement {
    any_account: concat!(states!("", "unnest(CAST($3 AS BIGINT[]), ", "(account_id, "), on_conflict!()),
    one_account: concat!(
        states!("a.id, ", "account a CROSS JOIN unnest(", "("),
        "WHERE a.id = (CAST($3 AS BIGINT[]))[1] ",
        on_conflict!()
    ),
};

/// A licence that was once seen to be expired stays so, even if the clock is set back.
const LAPSE: BatchStatement = BatchStatement {
    any_account: "UPDATE device d SET licensed = FALSE, lapsed = TRUE, checksum = d.checksum - 1 \
        FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS w (account_id, id) \
        WHERE d.account_id = w.account_id AND d.id = w.id AND d.licensed",
    one_account: "UPDATE device d SET licensed = FALSE, lapsed = TRUE, checksum = d.checksum - 1 \
        FROM unnest(CAST($2 AS BIGINT[])) AS w (id) \
        WHERE d.account_id = (CAST($1 AS BIGINT[]))[1] AND d.id = w.id AND d.licensed",
};

/// Copies that to the state of a device that is not visible to the submitter, whose state is not written otherwise.
const LAPSE_STATE: BatchStatement = BatchStatement {
    any_account: "UPDATE device_live v SET licensed = FALSE, checksum = w.checksum \
        FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) AS w (account_id, id, checksum) \
        WHERE v.account_id = w.account_id AND v.device_id = w.id AND v.licensed",
    one_account: "UPDATE device_live v SET licensed = FALSE, checksum = w.checksum \
        FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) AS w (id, checksum) \
        WHERE v.account_id = (CAST($1 AS BIGINT[]))[1] AND v.device_id = w.id AND v.licensed",
};

/// Prepares the statements that every batch needs.
pub(super) async fn prepare(session: &Session) -> std::result::Result<(), DbError> {
    session.prepare_native([STATES.of(session.is_distributed())]).await.map(drop)
}

/// Writes all updates with the commit.
pub(super) async fn settle_with_commit(
    session: &Session,
    now: Timestamp,
    known: &Known,
    arrivals: &Arrivals,
) -> std::result::Result<(), DbError> {
    save_states(session, now, known, arrivals).await?;
    let mut lapsed: Vec<(&Key, &Device)> = known.devices.iter().filter(|(_, device)| device.lapsed).collect();
    if lapsed.is_empty() {
        return Ok(());
    }
    lapsed.sort_unstable_by_key(|(key, _)| **key);
    let keys = |of: &[(&Key, &Device)]| -> (Vec<i64>, Vec<i64>) {
        of.iter().map(|((account, device), _)| (account.as_i64(), device.as_i64())).unzip()
    };
    let [lapse, lapse_state] = session
        .prepare_native([LAPSE.of(session.is_distributed()), LAPSE_STATE.of(session.is_distributed())])
        .await?;
    let (accounts, devices) = keys(&lapsed);
    session.defer(lapse, vec![Box::new(accounts), Box::new(devices)]);
    // The states of devices with an arrival are written by `save_states`.
    lapsed.retain(|(key, device)| !arrivals.contains_key(key) && device.state.licensed.is_some());
    if lapsed.is_empty() {
        return Ok(());
    }
    let checksum =
        |(_, device): &(&Key, &Device)| StateRow { licensed: Some(false), ..device.state.clone() }.checksum();
    let checksums: Vec<i64> = lapsed.iter().map(checksum).collect();
    let (accounts, devices) = keys(&lapsed);
    session.defer(lapse_state, vec![Box::new(accounts), Box::new(devices), Box::new(checksums)]);
    Ok(())
}

type Key = (AccountId, DeviceId);

/// The states of devices after a batch, column by column.
#[derive(Default)]
struct Columns {
    account: Vec<i64>,
    device: Vec<i64>,
    unpacked: Vec<i64>,
    last_seen: Vec<i64>,
    newest: Vec<Option<i64>>,
    interval: Vec<Vec<u8>>,
    unconfirmed: Vec<Vec<u8>>,
    last: LastColumns,
    licensed: Vec<Option<bool>>,
    expires: Vec<Option<i64>>,
    checksum: Vec<i64>,
}

impl Columns {
    fn push(&mut self, state: &StateRow, arrival: &Arrival, now: Timestamp) {
        self.account.push(state.account.as_i64());
        self.device.push(state.device.as_i64());
        self.unpacked.push(i64::try_from(arrival.points.len()).unwrap_or(i64::MAX));
        self.last_seen.push(state.last_seen.unwrap_or(now).as_millis());
        self.newest.push(state.newest_time.map(Timestamp::as_millis));
        self.interval.push(state.interval.clone());
        self.unconfirmed.push(state.unconfirmed_jump.clone());
        self.last.push((state.account, state.device), arrival.last());
        self.licensed.push(state.licensed);
        self.expires.push(state.expires.map(Timestamp::as_millis));
        self.checksum.push(state.checksum());
    }
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

/// Records one contact of each device, its count of unpacked locations, their latest time, and its last location if
/// that changes.
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
        let mut state = device.map_or_else(|| StateRow::empty(key.0, key.1), |device| device.state.clone());
        let mut interval = ReportingInterval::from_bytes(&state.interval);
        interval.hear(now);
        state.interval = interval.to_bytes();
        state.unconfirmed_jump = arrival.jump_detector.unconfirmed.to_bytes();
        state.last_seen = state.last_seen.max(Some(now));
        state.newest_time = state.newest_time.max(arrival.points.iter().map(|point| point.time).max());
        state.licensed = device.map(|device| device.license.licensed && !device.lapsed);
        state.expires = device.and_then(|device| device.license.expires);
        columns.push(&state, arrival, now);
    }
    let [statement] = session.prepare_native([STATES.of(session.is_distributed())]).await?;
    let params: Vec<Param> = vec![
        Box::new(i64::try_from(FULL_CHUNK).unwrap_or(i64::MAX)),
        Box::new(now.plus_millis(PACK_AFTER_MS).as_millis()),
        Box::new(columns.account),
        Box::new(columns.device),
        Box::new(columns.unpacked),
        Box::new(columns.last_seen),
        Box::new(columns.newest),
        Box::new(columns.interval),
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
        Box::new(columns.checksum),
    ];
    session.defer(statement, params);
    Ok(())
}
