//! The submitted locations of a batch, before duplicates are removed.

use std::collections::HashSet;

use perigee_core::id::{AccountId, DeviceId};

use crate::sql::identity::Identity;
use crate::sql::locations::{PendingLocation, Submission};

/// A location that may be new.
pub(super) struct Candidate<'a> {
    pub(super) account: AccountId,
    pub(super) device: DeviceId,
    /// The index of its submission, and its index in that.
    pub(super) index: (usize, usize),
    pub(super) pending: &'a PendingLocation,
    pub(super) identity: Identity,
}

/// Collects and hashes all submitted locations.
pub(super) fn prepare(submissions: &[Submission]) -> Vec<Candidate<'_>> {
    let mut candidates = Vec::with_capacity(submissions.iter().map(|each| each.locations.len()).sum());
    for (index, Submission { scope, device, locations }) in submissions.iter().enumerate() {
        candidates.extend(locations.iter().enumerate().map(|(place, pending)| {
            let identity = Identity::of_location(pending);
            let (account, device, index) = (scope.account, *device, (index, place));
            Candidate { account, device, index, pending, identity }
        }));
    }
    candidates
}

/// Keeps the locations of admitted submissions, without duplicates within the batch; the first one counts.
pub(super) fn retain_admitted(candidates: &mut Vec<Candidate<'_>>, is_admitted: impl Fn(usize) -> bool) {
    let mut seen = HashSet::with_capacity(candidates.len());
    candidates.retain(|Candidate { account, device, index: (index, _), identity, .. }| {
        is_admitted(*index) && seen.insert((*account, *device, *identity))
    });
}
