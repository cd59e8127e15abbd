//! Updates device states after a batch: last locations, times of contact, counts of unpacked locations.

use std::collections::{BTreeSet, HashMap};

use bytes::Bytes;
use futures_util::future::{try_join, try_join3};
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::UnconfirmedJump;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::ingest::{Kept, New};
use super::known::Known;
use crate::codec::Point;
use crate::error::DbError;
use crate::postgres::Session;
use crate::sql::locations::{Admission, Submission, last_checksum};

const UPSERT_LAST: &str = "INSERT INTO last_location (account_id, device_id, number, time, received_at, \
                                               latitude, longitude, late, readings, checksum) \
    SELECT * FROM unnest( \
        CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), \
        CAST($5 AS BIGINT[]), CAST($6 AS INTEGER[]), CAST($7 AS INTEGER[]), CAST($8 AS BOOLEAN[]), \
        CAST($9 AS BYTEA[]), CAST($10 AS BIGINT[])) \
    ON CONFLICT (account_id, device_id) DO UPDATE SET number = excluded.number, time = excluded.time, \
        received_at = excluded.received_at, latitude = excluded.latitude, longitude = excluded.longitude, \
        late = excluded.late, readings = excluded.readings, checksum = excluded.checksum";

/// `rhythm` is the learned reporting interval and `doubt` the unconfirmed jump, both encoded.
const UPSERT_CONTACTS: &str = "INSERT INTO device_live \
        (last_seen, unpacked_since, account_id, device_id, unpacked, rhythm, doubt) \
    SELECT CAST($1 AS BIGINT), CAST($1 AS BIGINT), * \
    FROM unnest(CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), CAST($5 AS BYTEA[]), \
        CAST($6 AS BYTEA[])) \
    ON CONFLICT (account_id, device_id) DO UPDATE SET \
        last_seen = GREATEST(excluded.last_seen, device_live.last_seen), \
        rhythm = excluded.rhythm, doubt = excluded.doubt, \
        unpacked_since = CASE WHEN device_live.unpacked = 0 \
                         THEN excluded.unpacked_since ELSE device_live.unpacked_since END, \
        unpacked = device_live.unpacked + excluded.unpacked";

const FLAG_SUSPECT: &str = "UPDATE location_log g SET suspect = TRUE \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[])) \
        AS w (account_id, device_id, number) \
    WHERE g.account_id = w.account_id AND g.device_id = w.device_id AND g.number = w.number";

/// Stores that a licence has expired, so that it stays expired even if the clock is set back. `licensed` is part of the
/// sum in the checksum, which thus decreases by 1.
const EXPIRE_LICENSES: &str = "UPDATE device d SET licensed = FALSE, checksum = d.checksum - 1 \
    FROM unnest(CAST($1 AS BIGINT[]), CAST($2 AS BIGINT[])) AS w (account_id, id) \
    WHERE d.account_id = w.account_id AND d.id = w.id AND d.licensed";

/// Updates the state of every device of a batch. The statements are pipelined into one round trip.
pub(super) async fn update_device_states(
    session: &Session,
    now: Timestamp,
    submissions: &[Submission],
    known: &Known,
    new: &New<'_>,
) -> Result<()> {
    let expired: BTreeSet<(i64, i64)> = known
        .devices
        .iter()
        .filter(|(_, device)| device.lapsed)
        .map(|((account, device), _)| (account.as_i64(), device.as_i64()))
        .collect();
    let changes = Changes::of_batch(known, new, now);
    let contacts = record_contacts(session, now, submissions, known, (new, &changes));
    try_join3(write_changes(session, &changes), contacts, async {
        if expired.is_empty() {
            return Ok(());
        }
        let (accounts, devices): (Vec<i64>, Vec<i64>) = expired.into_iter().unzip();
        let [statement] = session.prepare_native([EXPIRE_LICENSES]).await?;
        session.run(&statement, &[&accounts, &devices]).await.map(drop)
    })
    .await?;
    Ok(())
}

/// The new last locations as one array per column, as the statement takes them.
#[derive(Default)]
struct LastColumns<'a> {
    account: Vec<i64>,
    device: Vec<i64>,
    number: Vec<i64>,
    time: Vec<i64>,
    received_at: Vec<i64>,
    latitude: Vec<i32>,
    longitude: Vec<i32>,
    late: Vec<bool>,
    readings: Vec<&'a [u8]>,
    checksum: Vec<i64>,
}

impl<'a> LastColumns<'a> {
    fn push(&mut self, (account, device): (AccountId, DeviceId), last: &Kept<'a>, received_at: Timestamp) {
        self.account.push(account.as_i64());
        self.device.push(device.as_i64());
        self.number.push(last.fix.number);
        self.time.push(last.fix.time.as_millis());
        self.received_at.push(received_at.as_millis());
        self.latitude.push(last.fix.latitude.as_e7());
        self.longitude.push(last.fix.longitude.as_e7());
        self.late.push(last.trust.late);
        self.readings.push(last.readings);
        let point = Point {
            time: last.fix.time,
            number: last.fix.number,
            received_at,
            latitude: last.fix.latitude,
            longitude: last.fix.longitude,
            trust: last.trust,
            readings: Bytes::copy_from_slice(last.readings),
        };
        self.checksum.push(last_checksum(account, device, &point));
    }
}

/// Writes the changed last locations, and flags implausible jumps as suspect.
async fn write_changes(session: &Session, changes: &Changes<'_>) -> std::result::Result<(), DbError> {
    let LastColumns {
        account,
        device,
        number,
        time,
        received_at,
        latitude,
        longitude,
        late,
        readings,
        checksum,
    } = &changes.last;
    let last = async {
        if account.is_empty() {
            return Ok(());
        }
        let [statement] = session.prepare_native([UPSERT_LAST]).await?;
        session
            .run(
                &statement,
                &[account, device, number, time, received_at, latitude, longitude, late, readings, checksum],
            )
            .await
            .map(drop)
    };
    let (accounts, devices, numbers) = &changes.jumps;
    let jumps = async {
        if accounts.is_empty() {
            return Ok(());
        }
        let [statement] = session.prepare_native([FLAG_SUSPECT]).await?;
        session.run(&statement, &[accounts, devices, numbers]).await.map(drop)
    };
    try_join(last, jumps).await.map(drop)
}

/// The result of jump detection over a batch.
#[derive(Default)]
struct Changes<'a> {
    /// The new last locations, of devices for which it changed.
    last: LastColumns<'a>,
    /// Accounts, devices and log numbers of implausible jumps.
    jumps: (Vec<i64>, Vec<i64>, Vec<i64>),
    /// Of every device with new locations, a jump that later locations may confirm.
    unconfirmed: HashMap<(AccountId, DeviceId), UnconfirmedJump>,
}

impl<'a> Changes<'a> {
    fn of_batch(known: &Known, new: &New<'a>, now: Timestamp) -> Self {
        let mut changes = Self::default();
        for (key, locations) in new {
            let mut locations: Vec<&Kept<'a>> = locations.iter().collect();
            // By fix time, so that the result does not depend on the order of submission.
            locations.sort_unstable_by_key(|kept| (kept.fix.time, kept.fix.number));
            let mut jump_detector =
                known.devices.get(key).map(|device| device.jump_detector).unwrap_or_default();
            let before = jump_detector.last;
            for kept in &locations {
                let is_suspect = jump_detector.judge(kept.fix, kept.trust.suspect);
                if is_suspect && !kept.trust.suspect {
                    changes.jumps.0.push(key.0.as_i64());
                    changes.jumps.1.push(key.1.as_i64());
                    changes.jumps.2.push(kept.fix.number);
                }
            }
            let new_last = jump_detector.last.filter(|_| jump_detector.last != before);
            if let Some(kept) =
                locations.iter().find(|kept| new_last.is_some_and(|fix| fix.number == kept.fix.number))
            {
                changes.last.push(*key, kept, now);
            }
            changes.unconfirmed.insert(*key, jump_detector.unconfirmed);
        }
        changes
    }
}

/// Records the contact of each device that sent something, even if nothing of it was stored, and adds its new
/// locations to the count of unpacked ones.
async fn record_contacts(
    session: &Session,
    now: Timestamp,
    submissions: &[Submission],
    known: &Known,
    (new, changes): (&New<'_>, &Changes<'_>),
) -> std::result::Result<(), DbError> {
    let heard: BTreeSet<(AccountId, DeviceId)> = submissions
        .iter()
        .filter(|submission| known.admission(submission) != Admission::NotVisible)
        .map(|submission| (submission.scope.account, submission.device))
        .collect();
    if heard.is_empty() {
        return Ok(());
    }
    let accounts: Vec<i64> = heard.iter().map(|(account, _)| account.as_i64()).collect();
    let devices: Vec<i64> = heard.iter().map(|(_, device)| device.as_i64()).collect();
    let count = |key| i64::try_from(new.get(key).map_or(0, Vec::len)).unwrap_or(i64::MAX);
    let counts: Vec<i64> = heard.iter().map(count).collect();
    let (mut intervals, mut jumps) = (Vec::with_capacity(heard.len()), Vec::with_capacity(heard.len()));
    for key in &heard {
        let device = known.devices.get(key);
        let mut interval = device.map(|device| device.reporting_interval.clone()).unwrap_or_default();
        interval.hear(now);
        intervals.push(interval.to_bytes());
        let jump =
            changes.unconfirmed.get(key).copied().or(device.map(|device| device.jump_detector.unconfirmed));
        jumps.push(jump.unwrap_or_default().to_bytes());
    }
    let [statement] = session.prepare_native([UPSERT_CONTACTS]).await?;
    session
        .run(&statement, &[&now.as_millis(), &accounts, &devices, &counts, &intervals, &jumps])
        .await
        .map(drop)
}
