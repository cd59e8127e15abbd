//! Optimistic changes: read a resource, decide, write if its revision is unchanged, and retry if it is not.

use std::future::Future;

use perigee_core::error::StoreError;

use super::error::{ApiError, ApiResult, unavailable};
use super::extract::Preconditions;

/// Members of the envelope, which POST, PUT and PATCH ignore so that an answer can be sent back.
pub const ENVELOPE: &[&str] = &["success", "apiUsage", "apiDailyUsage"];

/// How often a change is tried while others change the same resource.
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

/// Declares the handlers of PUT and PATCH of a resource. Both call the same function: [`Change`] applies a patch to the
/// current view, so that the function reads a complete state in either case.
///
/// [`Change`]: super::extract::Change
macro_rules! change_handlers {
    (
        path: $path:tt, tag: $tag:tt, body: $input:ident, answer: $view:ident, $answered:tt;
        $(#[doc = $replaces:tt])* $replace:ident,
        $(#[doc = $updates:tt])* $update:ident => $change:ident($($of:ident: $path_type:ty)?)
    ) => {
        $(#[doc = $replaces])*
        #[utoipa::path(put, path = $path, tag = $tag, request_body = $input,
            responses((status = 200, description = $answered, body = $view)))]
        pub async fn $replace(
            call: $crate::http::extract::Call,
            $($of: $path_type,)?
            change: $crate::http::extract::Change,
        ) -> $crate::http::reply::ApiReply<$view> {
            $change(call, $($of,)? change).await
        }

        $(#[doc = $updates])*
        #[utoipa::path(patch, path = $path, tag = $tag, request_body = $input,
            responses((status = 200, description = $answered, body = $view)))]
        pub async fn $update(
            call: $crate::http::extract::Call,
            $($of: $path_type,)?
            change: $crate::http::extract::Change,
        ) -> $crate::http::reply::ApiReply<$view> {
            $change(call, $($of,)? change).await
        }
    };
}

pub(crate) use change_handlers;

/// Points an unknown-reference error at the member of the request: the store does not know which member contains the
/// reference.
pub fn attribute_reference<T>(
    outcome: Result<T, StoreError>,
    member: &str,
) -> ApiResult<Result<T, StoreError>> {
    match outcome {
        Err(error @ StoreError::UnknownReference { .. }) => Err(ApiError::from(error).at_member(member)),
        outcome => Ok(outcome),
    }
}
