//! Counts calls against limits and refuses those beyond them.

use http::header::RETRY_AFTER;
use perigee_core::id::AccountId;

use super::context::RequestContext;
use super::error::{ApiError, ApiResult};
use super::error_code::ErrorCode;
use crate::access::{RateLimits, Rated};

/// Counts a call against its account's limit.
pub fn limit_request(limits: &RateLimits, context: &RequestContext, account: AccountId) -> ApiResult<()> {
    let rated = limits.request(account);
    context.set_rated(rated);
    if rated.allowance.allowed { Ok(()) } else { Err(too_many(rated, "Too many requests.")) }
}

/// Counts a call as this many more, which may exceed what is left, so that a large one is possible at any limit.
pub fn charge_requests(
    limits: &RateLimits,
    context: &RequestContext,
    account: AccountId,
    more: usize,
) -> ApiResult<()> {
    if more == 0 {
        return Ok(());
    }
    limit_request(limits, context, account)?;
    context.set_rated(limits.spend_requests(account, more - 1));
    Ok(())
}

/// Counts a submission of locations or alerts, which has a bucket of its own, or none.
pub fn limit_submission(limits: &RateLimits, context: &RequestContext, account: AccountId) -> ApiResult<()> {
    let Some(rated) = limits.submission(account) else {
        context.set_rated(limits.requests_left(account));
        return Ok(());
    };
    context.set_rated(rated);
    if rated.allowance.allowed { Ok(()) } else { Err(too_many(rated, "Too many submissions.")) }
}

/// The error for an empty token bucket. `what` is a sentence that says what was too many.
pub fn too_many(rated: Rated, what: &str) -> ApiError {
    let wait = rated.allowance.wait_s;
    ApiError::new(
        ErrorCode::RateLimited,
        format!("{what} Wait {wait} s and try again. The RateLimit headers show the remaining quota."),
    )
    .with_header(RETRY_AFTER, &wait.to_string())
}
