//! Whether a submission is admitted: its device must be visible to the submitter and licensed.

use perigee_core::error::{Kind, StoreError};
use perigee_core::locations::location::Outcome;
use perigee_core::store::Result;

use super::submission_queue::Submission;
use crate::error::{Locked, Renamed};

/// The state of a submission's device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Admission {
    /// It does not exist, or the submitter cannot see it.
    NotVisible,
    /// Its licence is expired: the contact is recorded, its locations are refused.
    Expired,
    /// Its locations are stored.
    Active,
    /// Others store its locations or change its account at the moment: it is tried again.
    Locked,
    /// It no longer has the identifier by which the submission names it: its device is looked up again.
    Renamed,
}

/// The answer to each submission if every location in it were a duplicate.
pub(crate) fn first_results(
    submissions: &[Submission],
    admissions: &[Admission],
) -> Vec<Result<Vec<Outcome>>> {
    let result = |(submission, admission): (&Submission, &Admission)| match admission {
        Admission::Active => Ok(vec![Outcome::Duplicate; submission.locations.len()]),
        Admission::Expired => Err(StoreError::DeviceExpired(submission.device)),
        Admission::Locked => Err(Locked::error()),
        Admission::Renamed => Err(Renamed::error()),
        Admission::NotVisible => Err(StoreError::NotFound(Kind::Device)),
    };
    submissions.iter().zip(admissions).map(result).collect()
}
