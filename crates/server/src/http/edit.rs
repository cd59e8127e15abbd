//! Changes of a thing: read it, decide, write on condition that it is still the same, again if it is not.

use std::future::Future;

use perigee_core::error::StoreError;

use super::error::{ApiError, ApiResult, unavailable};
use super::extract::Preconditions;

/// Members of the envelope, which POST, PUT and PATCH ignore so that what was read can be sent back.
pub const ENVELOPE: &[&str] = &["success", "apiUsage", "apiDailyUsage"];

/// How often a change is tried again when others were quicker.
const TRIES: usize = 64;

/// Whether a body makes a thing or changes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// POST.
    Create,
    /// PUT, and PATCH once it is applied.
    Replace,
}

/// Runs a change that reads first, until nobody was quicker. A client that named a revision is told instead.
pub async fn retry_changed<T, F>(preconditions: &Preconditions, change: impl Fn() -> F) -> ApiResult<T>
where
    F: Future<Output = ApiResult<Result<T, StoreError>>>,
{
    for _ in 0..TRIES {
        match change().await? {
            Err(StoreError::RevisionMismatch(_)) if !preconditions.names_revision() => {}
            outcome => return outcome.map_err(ApiError::from),
        }
    }
    Err(unavailable("the thing was changed by others too often"))
}

/// Puts an unknown reference at the member a client wrote it in: the store knows what is missing, not where it
/// was named.
pub fn place_reference<T>(outcome: Result<T, StoreError>, member: &str) -> ApiResult<Result<T, StoreError>> {
    match outcome {
        Err(error @ StoreError::UnknownReference { .. }) => Err(ApiError::from(error).at_member(member)),
        outcome => Ok(outcome),
    }
}
