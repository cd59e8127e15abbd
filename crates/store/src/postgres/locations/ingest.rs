//! Storing submissions, each location once: look, append what is new, settle what follows from it.

use std::collections::{BTreeMap, HashSet};

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Fix, Outcome, Trust};
use perigee_core::store::Result;

use super::candidate::{self, Candidate};
use super::known::{self, Known};
use super::{append, settle};
use crate::postgres::Session;
use crate::sql::locations::{PendingLocation, Submission, first_results, known_in_chunks};
use crate::tx::Tx;

/// New locations of each device.
pub(super) type New<'a> = BTreeMap<(AccountId, DeviceId), Vec<Kept<'a>>>;

/// A location that was kept.
pub(super) struct Kept<'a> {
    /// With its number.
    pub(super) fix: Fix,
    pub(super) trust: Trust,
    pub(super) readings: &'a [u8],
}

/// Stores what is new and says of each location whether it is, or why its submission is refused.
pub(crate) async fn ingest(
    tx: &Tx,
    session: &Session,
    submissions: &[Submission],
) -> Result<Vec<Result<Vec<Outcome>>>> {
    // Packed and hashed before the accounts are locked, since others may wait for those.
    let mut candidates = candidate::prepare(submissions);
    let (known, numbers) = known::look(tx, session, submissions, candidates.len()).await?;
    let admissions: Vec<_> = submissions.iter().map(|submission| known.admission(submission)).collect();
    let mut results = first_results(submissions, &admissions);
    candidate::keep_once(&mut candidates, |index| results.get(index).is_some_and(Result::is_ok));
    leave_out_packed(tx, &known, &mut candidates).await?;
    let new = append::append(session, tx.now(), &candidates, &numbers, &mut results).await?;
    settle::settle(session, tx.now(), submissions, &known, &new).await?;
    Ok(results)
}

/// Looks into chunks for those alone that are no newer than the last chunk of their device, which are few.
async fn leave_out_packed(tx: &Tx, known: &Known, candidates: &mut Vec<Candidate<'_>>) -> Result<()> {
    let mut late: BTreeMap<(AccountId, DeviceId), Vec<usize>> = BTreeMap::new();
    for (place, candidate) in candidates.iter().enumerate().filter(|(_, each)| known.may_be_packed(each)) {
        late.entry((candidate.account, candidate.device)).or_default().push(place);
    }
    let mut packed = HashSet::new();
    for ((account, device), places) in late {
        let locations: Vec<&PendingLocation> = places.iter().map(|place| candidates[*place].sent).collect();
        let found = known_in_chunks(tx, account, device, &locations).await?;
        packed.extend(
            places.into_iter().zip(found).filter(|(_, is_packed)| *is_packed).map(|(place, _)| place),
        );
    }
    let mut places = 0..;
    candidates.retain(|_| places.next().is_none_or(|place| !packed.contains(&place)));
    Ok(())
}
