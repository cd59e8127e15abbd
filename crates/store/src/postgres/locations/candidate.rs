//! Locations that may be new.

use std::collections::HashSet;

use perigee_core::id::{AccountId, DeviceId};

use crate::sql::identity::Identity;
use crate::sql::locations::{PendingLocation, Submission};

/// A location that may be new, and where its outcome goes: which submission, and the place in that.
pub(super) struct Candidate<'a> {
    pub(super) account: AccountId,
    pub(super) device: DeviceId,
    pub(super) place: (usize, usize),
    pub(super) sent: &'a PendingLocation,
    pub(super) identity: Identity,
}

/// All that was submitted.
pub(super) fn prepare(submissions: &[Submission]) -> Vec<Candidate<'_>> {
    let mut candidates = Vec::with_capacity(submissions.iter().map(|each| each.locations.len()).sum());
    for (index, Submission { scope, device, locations }) in submissions.iter().enumerate() {
        candidates.extend(locations.iter().enumerate().map(|(place, sent)| {
            let identity = Identity::of_location(sent);
            let (account, device, place) = (scope.account, *device, (index, place));
            Candidate { account, device, place, sent, identity }
        }));
    }
    candidates
}

/// Leaves those of submissions that are taken; the same one twice is taken once, and the first counts.
pub(super) fn keep_once(candidates: &mut Vec<Candidate<'_>>, is_taken: impl Fn(usize) -> bool) {
    let mut seen = HashSet::with_capacity(candidates.len());
    candidates.retain(|Candidate { account, device, place: (index, _), identity, .. }| {
        is_taken(*index) && seen.insert((*account, *device, *identity))
    });
}
