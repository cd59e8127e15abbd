//! Storing submissions, each location once: look, append what is new, settle what follows from it.

use std::collections::BTreeMap;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::location::{Outcome, StoredLocation};
use perigee_core::store::Result;

use super::candidate::{self, Candidate};
use super::known::{self, Known};
use super::{append, settle};
use crate::postgres::Session;
use crate::sql::locations::{Submission, first_results, leave_out_known};
use crate::tx::Tx;

/// New locations of each device.
pub(super) type New = BTreeMap<(AccountId, DeviceId), Vec<StoredLocation>>;

/// Stores what is new and says of each location whether it is, or why its submission is refused.
pub(crate) async fn ingest(
    tx: &Tx,
    session: &Session,
    submissions: &[Submission],
) -> Result<Vec<Result<Vec<Outcome>>>> {
    // Packed and hashed before the accounts are locked, since others may wait for those.
    let mut candidates = candidate::prepare(submissions);
    let (known, numbers) = known::look(session, tx.now(), submissions, candidates.len()).await?;
    let standings: Vec<_> = submissions.iter().map(|submission| known.standing(submission)).collect();
    let mut results = first_results(submissions, &standings);
    candidate::keep_once(&mut candidates, |index| results.get(index).is_some_and(Result::is_ok));
    let candidates = leave_out_packed(tx, &known, candidates).await?;
    let new = append::append(session, tx.now(), &candidates, &numbers, &mut results).await?;
    settle::settle(session, tx.now(), submissions, &known, &new).await?;
    Ok(results)
}

/// Looks into chunks for those alone that are no newer than the last chunk of their device, which are few.
async fn leave_out_packed<'a>(
    tx: &Tx,
    known: &Known,
    candidates: Vec<Candidate<'a>>,
) -> Result<Vec<Candidate<'a>>> {
    let (mut late, mut rest): (Vec<_>, Vec<_>) =
        candidates.into_iter().partition(|candidate| known.may_be_packed(candidate));
    if late.is_empty() {
        return Ok(rest);
    }
    leave_out_known(tx, &mut late, |candidate| (candidate.account, candidate.device, candidate.location))
        .await?;
    rest.append(&mut late);
    // As they came, which is the order of their numbers.
    rest.sort_unstable_by_key(|candidate| candidate.place);
    Ok(rest)
}
