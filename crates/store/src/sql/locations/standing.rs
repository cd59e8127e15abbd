//! Whether those who submit may: their devices are in sight and licensed.

use perigee_core::error::{Kind, StoreError};
use perigee_core::location::Outcome;
use perigee_core::store::Result;

use super::lanes::Submission;

/// How a submission's device stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Standing {
    /// It is not in sight, or does not exist.
    Unknown,
    /// It is heard but stores nothing.
    Expired,
    /// It stores.
    Active,
}

/// The answer to each submission when nothing it brings is new.
pub(crate) fn first_results(submissions: &[Submission], standings: &[Standing]) -> Vec<Result<Vec<Outcome>>> {
    let result = |(submission, standing): (&Submission, &Standing)| match standing {
        Standing::Active => Ok(vec![Outcome::Duplicate; submission.locations.len()]),
        Standing::Expired => Err(StoreError::DeviceExpired(submission.device)),
        Standing::Unknown => Err(StoreError::NotFound(Kind::Device)),
    };
    submissions.iter().zip(standings).map(result).collect()
}
