//! What follows from a batch: last locations, that devices were heard, how much waits to be packed.

use std::collections::BTreeSet;

use futures_util::future::try_join3;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{StoredLocation, supersedes};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::ingest::New;
use super::known::Known;
use crate::codec::pack_readings;
use crate::error::DbError;
use crate::postgres::Session;
use crate::sql::locations::{Standing, Submission};

const LAST: &str = "INSERT INTO last_location (account_id, device_id, number, time, received_at, \
                                               latitude, longitude, late, readings) \
    SELECT * FROM unnest( \
        CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), \
        CAST($5 AS BIGINT[]), CAST($6 AS INTEGER[]), CAST($7 AS INTEGER[]), CAST($8 AS BOOLEAN[]), \
        CAST($9 AS BYTEA[])) \
    ON CONFLICT (account_id, device_id) DO UPDATE SET number = excluded.number, time = excluded.time, \
        received_at = excluded.received_at, latitude = excluded.latitude, longitude = excluded.longitude, \
        late = excluded.late, readings = excluded.readings";

const HEAR: &str = "INSERT INTO device_live (last_seen, unpacked_since, account_id, device_id, unpacked) \
    SELECT CAST($1 AS BIGINT), CAST($1 AS BIGINT), * \
    FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[])) \
    ON CONFLICT (account_id, device_id) DO UPDATE SET \
        last_seen = GREATEST(excluded.last_seen, device_live.last_seen), \
        unpacked_since = CASE WHEN device_live.unpacked = 0 \
                         THEN excluded.unpacked_since ELSE device_live.unpacked_since END, \
        unpacked = device_live.unpacked + excluded.unpacked";

/// Seen to be over once, a licence stays so, whatever the clock does next.
const LAPSE: &str = "UPDATE device d SET licensed = FALSE \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS w (account_id, id) \
    WHERE d.account_id = w.account_id AND d.id = w.id";

/// Writes it all in one round trip.
pub(super) async fn settle(
    session: &Session,
    now: Timestamp,
    submissions: &[Submission],
    known: &Known,
    new: &New,
) -> Result<()> {
    let lapsed: BTreeSet<(i64, i64)> = known
        .devices
        .iter()
        .filter(|(_, device)| device.lapsed)
        .map(|((account, device), _)| (account.as_i64(), device.as_i64()))
        .collect();
    try_join3(advance(session, known, new), hear(session, now, submissions, known, new), async {
        if lapsed.is_empty() {
            return Ok(());
        }
        let (accounts, devices): (Vec<i64>, Vec<i64>) = lapsed.into_iter().unzip();
        let [statement] = session.ready([LAPSE]).await?;
        session.run(&statement, &[&accounts, &devices]).await.map(drop)
    })
    .await?;
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
}

impl Columns {
    fn push(&mut self, (account, device): (AccountId, DeviceId), last: &StoredLocation) {
        self.account.push(account.as_i64());
        self.device.push(device.as_i64());
        self.number.push(last.number);
        self.time.push(last.location.time.as_millis());
        self.received_at.push(last.received_at.as_millis());
        self.latitude.push(last.location.latitude.as_e7());
        self.longitude.push(last.location.longitude.as_e7());
        self.late.push(last.trust.late);
        self.readings.push(pack_readings(&last.location.readings));
    }
}

/// Moves the last locations on to the newest of these that can be trusted, unless the one there is newer.
async fn advance(session: &Session, known: &Known, new: &New) -> std::result::Result<(), DbError> {
    let mut columns = Columns::default();
    for (key, new) in new {
        let mut new: Vec<&StoredLocation> = new.iter().filter(|stored| !stored.trust.suspect).collect();
        // In the order of time, so that the same locations give the same last one however they were sent.
        new.sort_unstable_by_key(|stored| (stored.location.time, stored.number));
        let before = known.devices.get(key).and_then(|device| device.last.as_ref());
        let last = new.into_iter().fold(before, |last, stored| match last {
            Some(last) if !supersedes(stored, last) => Some(last),
            _ => Some(stored),
        });
        if let Some(last) = last.filter(|last| before != Some(*last)) {
            columns.push(*key, last);
        }
    }
    if columns.account.is_empty() {
        return Ok(());
    }
    let Columns { account, device, number, time, received_at, latitude, longitude, late, readings } =
        &columns;
    let [statement] = session.ready([LAST]).await?;
    session
        .run(&statement, &[account, device, number, time, received_at, latitude, longitude, late, readings])
        .await
        .map(drop)
}

/// Notes that the devices were heard, once each, and how much waits to be packed.
async fn hear(
    session: &Session,
    now: Timestamp,
    submissions: &[Submission],
    known: &Known,
    new: &New,
) -> std::result::Result<(), DbError> {
    let heard: BTreeSet<(AccountId, DeviceId)> = submissions
        .iter()
        .filter(|submission| known.standing(submission) != Standing::Unknown)
        .map(|submission| (submission.scope.account, submission.device))
        .collect();
    if heard.is_empty() {
        return Ok(());
    }
    let accounts: Vec<i64> = heard.iter().map(|(account, _)| account.as_i64()).collect();
    let devices: Vec<i64> = heard.iter().map(|(_, device)| device.as_i64()).collect();
    let count = |key| i64::try_from(new.get(key).map_or(0, Vec::len)).unwrap_or(i64::MAX);
    let counts: Vec<i64> = heard.iter().map(count).collect();
    let [statement] = session.ready([HEAR]).await?;
    session.run(&statement, &[&now.as_millis(), &accounts, &devices, &counts]).await.map(drop)
}
