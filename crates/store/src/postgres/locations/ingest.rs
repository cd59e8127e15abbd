//! Storing a batch of submissions: read the devices, append what is new, update the device states.

use std::collections::{BTreeMap, HashSet};

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Fix, Outcome, Trust};
use perigee_core::store::Result;

use super::candidate::{self, Candidate};
use super::known::{self, Known};
use super::{append, device_state};
use crate::postgres::Session;
use crate::sql::locations::{PendingLocation, Submission, first_results, known_in_chunks};
use crate::tx::Tx;

/// The new locations of each device.
pub(super) type New<'a> = BTreeMap<(AccountId, DeviceId), Vec<Kept<'a>>>;

/// A location that was inserted.
pub(super) struct Kept<'a> {
    /// With its log number.
    pub(super) fix: Fix,
    pub(super) trust: Trust,
    pub(super) readings: &'a [u8],
}

/// Stores new locations; says of each whether it was accepted or a duplicate, or why its submission is refused.
pub(crate) async fn ingest(
    tx: &Tx,
    session: &Session,
    submissions: &[Submission],
) -> Result<Vec<Result<Vec<Outcome>>>> {
    // Hashed before the accounts are locked, to hold the locks for a shorter time.
    let mut candidates = candidate::prepare(submissions);
    let (known, numbers) = known::read(tx, session, submissions, candidates.len()).await?;
    let admissions: Vec<_> = submissions.iter().map(|submission| known.admission(submission)).collect();
    let mut results = first_results(submissions, &admissions);
    candidate::retain_admitted(&mut candidates, |index| results.get(index).is_some_and(Result::is_ok));
    remove_packed(tx, &known, &mut candidates).await?;
    let new = append::append(session, tx.now(), &candidates, &numbers, &mut results).await?;
    device_state::update_device_states(session, tx.now(), submissions, &known, &new).await?;
    Ok(results)
}

/// Removes candidates that are in chunks. Only those that are not newer than the last chunk of their device are looked
/// up, which are few.
async fn remove_packed(tx: &Tx, known: &Known, candidates: &mut Vec<Candidate<'_>>) -> Result<()> {
    let mut late: BTreeMap<(AccountId, DeviceId), Vec<usize>> = BTreeMap::new();
    for (place, candidate) in candidates.iter().enumerate().filter(|(_, each)| known.may_be_packed(each)) {
        late.entry((candidate.account, candidate.device)).or_default().push(place);
    }
    let mut packed = HashSet::new();
    for ((account, device), places) in late {
        let locations: Vec<&PendingLocation> =
            places.iter().map(|place| candidates[*place].pending).collect();
        let found = known_in_chunks(tx, account, device, &locations).await?;
        packed.extend(
            places.into_iter().zip(found).filter(|(_, is_packed)| *is_packed).map(|(place, _)| place),
        );
    }
    let mut places = 0..;
    candidates.retain(|_| places.next().is_none_or(|place| !packed.contains(&place)));
    Ok(())
}
