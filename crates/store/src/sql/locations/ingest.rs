//! Storing submissions: each location once, in few statements for all of them.

use std::collections::{BTreeMap, BTreeSet, HashSet};

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Location, Outcome, StoredLocation, judge};
use perigee_core::store::Result;

use super::super::events;
use super::super::identity::Identity;
use super::super::query::insert_many;
use super::chunk;
use super::gather::Submission;
use super::last;
use super::standing::{Standing, first_results, standings};
use crate::{Tx, Value, params, sqlite};

const INSERT: &str = "INSERT INTO location_log (number, account_id, device_id, time, hash, received_at, \
                      latitude, longitude, late, suspect, readings)";
const HEAR: &str = "INSERT INTO device_live (account_id, device_id, last_seen, unpacked, unpacked_since)";
const HEARD: &str = "ON CONFLICT (account_id, device_id) DO UPDATE SET \
    last_seen = CASE WHEN excluded.last_seen > device_live.last_seen \
                THEN excluded.last_seen ELSE device_live.last_seen END, \
    unpacked_since = CASE WHEN device_live.unpacked = 0 \
                     THEN excluded.unpacked_since ELSE device_live.unpacked_since END, \
    unpacked = device_live.unpacked + excluded.unpacked";

/// A location that may be new, and where its outcome goes.
struct Candidate<'a> {
    account: AccountId,
    device: DeviceId,
    place: (usize, usize),
    location: &'a Location,
    identity: Identity,
    readings: &'a [u8],
}

/// New locations of a device.
pub(super) type New = BTreeMap<(AccountId, DeviceId), Vec<StoredLocation>>;

/// Stores what is new and says of each location whether it is, or why its submission is refused.
pub(super) async fn ingest(tx: &Tx, submissions: &[Submission]) -> Result<Vec<Result<Vec<Outcome>>>> {
    if let Some(live) = tx.live() {
        return sqlite::locations::ingest(tx, live, submissions).await;
    }
    // In the order of their ids, so that two batches never wait for each other in a circle.
    let accounts: BTreeSet<AccountId> = submissions.iter().map(|each| each.scope.account).collect();
    for account in accounts {
        tx.lock_account(account).await?;
    }
    let standings = standings(tx, submissions).await?;
    let mut results = first_results(submissions, &standings);
    let mut candidates = candidates(submissions, &standings);
    chunk::leave_out_known(tx, &mut candidates, |candidate| {
        (candidate.account, candidate.device, candidate.location)
    })
    .await?;
    let new = append(tx, &candidates, &mut results).await?;
    last::advance(tx, &new).await?;
    hear(tx, submissions, &standings, &new).await?;
    Ok(results)
}

/// What the active devices sent; the same one twice is taken once, and the first counts.
fn candidates<'a>(submissions: &'a [Submission], standings: &[Standing]) -> Vec<Candidate<'a>> {
    let mut seen = HashSet::new();
    let mut candidates = Vec::new();
    for (index, (submission, standing)) in submissions.iter().zip(standings).enumerate() {
        if *standing != Standing::Active {
            continue;
        }
        let (account, device) = (submission.scope.account, submission.device);
        for (place, (location, readings)) in submission.locations.iter().zip(&submission.readings).enumerate()
        {
            let identity = Identity::of_location(location, readings);
            if seen.insert((account, device, identity)) {
                let place = (index, place);
                candidates.push(Candidate { account, device, place, location, identity, readings });
            }
        }
    }
    candidates
}

/// Appends the candidates to the log unless it has them.
async fn append(tx: &Tx, candidates: &[Candidate<'_>], results: &mut [Result<Vec<Outcome>>]) -> Result<New> {
    let received_at = tx.now();
    let numbers = events::draw_numbers(tx, candidates.len()).await?;
    let row = |(candidate, number): (&Candidate<'_>, &i64)| -> Vec<Value> {
        let trust = judge(candidate.location, received_at);
        params![
            *number,
            candidate.account,
            candidate.device,
            candidate.identity.time,
            candidate.identity.hash,
            received_at,
            candidate.location.latitude.as_e7(),
            candidate.location.longitude.as_e7(),
            trust.late,
            trust.suspect,
            candidate.readings,
        ]
        .to_vec()
    };
    let rows: Vec<Vec<Value>> = candidates.iter().zip(&numbers).map(row).collect();
    let mut kept = HashSet::with_capacity(rows.len());
    for row in insert_many(tx, INSERT, &rows, "ON CONFLICT DO NOTHING RETURNING number").await? {
        kept.insert(row.i64("number")?);
    }
    let mut new = New::new();
    for (candidate, number) in candidates.iter().zip(numbers).filter(|(_, number)| kept.contains(number)) {
        let (index, place) = candidate.place;
        if let Some(Ok(outcomes)) = results.get_mut(index)
            && let Some(outcome) = outcomes.get_mut(place)
        {
            *outcome = Outcome::Accepted;
        }
        let location = candidate.location.clone();
        let trust = judge(&location, received_at);
        let stored = StoredLocation { location, received_at, trust, number };
        new.entry((candidate.account, candidate.device)).or_default().push(stored);
    }
    Ok(new)
}

/// Notes that the devices were heard, once each, and how much waits to be packed.
async fn hear(tx: &Tx, submissions: &[Submission], standings: &[Standing], new: &New) -> Result<()> {
    let heard: BTreeSet<(AccountId, DeviceId)> = submissions
        .iter()
        .zip(standings)
        .filter(|(_, standing)| **standing != Standing::Unknown)
        .map(|(submission, _)| (submission.scope.account, submission.device))
        .collect();
    let row = |key: (AccountId, DeviceId)| {
        let count = i64::try_from(new.get(&key).map_or(0, Vec::len)).unwrap_or(i64::MAX);
        params![key.0, key.1, tx.now(), count, tx.now()].to_vec()
    };
    let rows: Vec<Vec<Value>> = heard.into_iter().map(row).collect();
    insert_many(tx, HEAR, &rows, HEARD).await?;
    Ok(())
}
