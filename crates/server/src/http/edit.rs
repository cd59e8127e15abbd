//! Optimistic changes: read a resource, decide, write if its revision is unchanged, and retry if it is not.

use std::future::Future;

use perigee_core::error::StoreError;

use super::error::{ApiError, ApiResult, unavailable};
use super::extract::Preconditions;

/// Members of the envelope, which POST, PUT and PATCH ignore so that what was read can be sent back.
pub const ENVELOPE: &[&str] = &["success", "apiUsage", "apiDailyUsage"];

/// How often a change is retried after concurrent changes.
const TRIES: usize = 64;

/// Whether a body creates a resource or changes one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// POST, for a new resource.
    Create,
    /// PUT, and PATCH once it is applied.
    Replace,
}

/// Runs a read-then-write change until no concurrent change interferes. With `If-Match` a conflict is reported
/// instead.
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
    Err(unavailable("the resource was changed by others too often"))
}

/// Points an unknown-reference error at the request's member: the store knows what is missing but not which member
/// named it.
pub fn place_reference<T>(outcome: Result<T, StoreError>, member: &str) -> ApiResult<Result<T, StoreError>> {
    match outcome {
        Err(error @ StoreError::UnknownReference { .. }) => Err(ApiError::from(error).at_member(member)),
        outcome => Ok(outcome),
    }
}
