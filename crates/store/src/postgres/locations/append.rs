//! Appending new locations to the log.

use std::collections::HashSet;

use perigee_core::location::{Fix, Outcome, judge};
use perigee_core::store::Result;
use perigee_core::time::Timestamp;

use super::candidate::Candidate;
use super::ingest::{Kept, New};
use super::known::list;
use crate::postgres::Session;
use crate::sql::locations::PendingLocation;

/// The numbers of the inserted rows come as one array, which is read faster than many rows.
const INSERT: &str = "WITH kept AS ( \
        INSERT INTO location_log (received_at, number, account_id, device_id, time, latitude, longitude, \
                                  late, suspect, hash, readings) \
        SELECT CAST($1 AS BIGINT), * FROM unnest( \
            CAST($2 AS BIGINT[]), CAST($3 AS BIGINT[]), CAST($4 AS BIGINT[]), CAST($5 AS BIGINT[]), \
            CAST($6 AS INTEGER[]), CAST($7 AS INTEGER[]), CAST($8 AS BOOLEAN[]), CAST($9 AS BOOLEAN[]), \
            CAST($10 AS BYTEA[]), CAST($11 AS BYTEA[])) \
        ON CONFLICT (account_id, device_id, time, hash) DO NOTHING RETURNING number) \
    SELECT COALESCE(array_agg(number), '{}') FROM kept";

/// The candidates, column by column.
#[derive(Default)]
struct Columns<'a> {
    number: Vec<i64>,
    account: Vec<i64>,
    device: Vec<i64>,
    time: Vec<i64>,
    latitude: Vec<i32>,
    longitude: Vec<i32>,
    late: Vec<bool>,
    suspect: Vec<bool>,
    hash: Vec<&'a [u8]>,
    readings: Vec<&'a [u8]>,
}

/// Appends the candidates with these numbers; marks those that were inserted as accepted.
pub(super) async fn append<'a>(
    session: &Session,
    now: Timestamp,
    candidates: &[Candidate<'a>],
    numbers: &[i64],
    results: &mut [Result<Vec<Outcome>>],
) -> Result<New<'a>> {
    if candidates.is_empty() {
        return Ok(New::new());
    }
    let kept = insert(session, now, candidates, numbers).await?;
    let mut new = New::new();
    for (candidate, number) in candidates.iter().zip(numbers).filter(|(_, number)| kept.contains(number)) {
        let (index, place) = candidate.index;
        if let Some(Ok(outcomes)) = results.get_mut(index)
            && let Some(outcome) = outcomes.get_mut(place)
        {
            *outcome = Outcome::Accepted;
        }
        let PendingLocation { fix, readings } = candidate.pending;
        let kept = Kept { fix: Fix { number: *number, ..*fix }, trust: judge(fix, now), readings };
        new.entry((candidate.account, candidate.device)).or_default().push(kept);
    }
    Ok(new)
}

/// Inserts the candidates; gives the numbers of those that are not duplicates.
async fn insert(
    session: &Session,
    now: Timestamp,
    candidates: &[Candidate<'_>],
    numbers: &[i64],
) -> Result<HashSet<i64>> {
    let mut columns = Columns::default();
    for (candidate, number) in candidates.iter().zip(numbers) {
        let PendingLocation { fix, readings } = candidate.pending;
        let trust = judge(fix, now);
        columns.number.push(*number);
        columns.account.push(candidate.account.as_i64());
        columns.device.push(candidate.device.as_i64());
        columns.time.push(candidate.identity.time.as_millis());
        columns.latitude.push(fix.latitude.as_e7());
        columns.longitude.push(fix.longitude.as_e7());
        columns.late.push(trust.late);
        columns.suspect.push(trust.suspect);
        columns.hash.push(&candidate.identity.hash);
        columns.readings.push(readings);
    }
    let Columns { number, account, device, time, latitude, longitude, late, suspect, hash, readings } =
        &columns;
    let [statement] = session.prepare_native([INSERT]).await?;
    let rows = session
        .run(
            &statement,
            &[
                &now.as_millis(),
                number,
                account,
                device,
                time,
                latitude,
                longitude,
                late,
                suspect,
                hash,
                readings,
            ],
        )
        .await?;
    Ok(list(&rows)?.into_iter().collect())
}
