//! Lets a request wait for a commit in its account, and checks its caller again meanwhile.

use http::header::RETRY_AFTER;

use super::error::{ApiError, ApiResult};
use super::error_code::ErrorCode;
use super::extract::Caller;
use crate::app::App;
use crate::live::{LimitReached, Poll, Wake};

/// Seconds after which a client whose poll was refused should try again.
const RETRY_AFTER_S: &str = "10";

/// Waits until the log of the account goes on and gives the number of its last event; none when the time is over.
/// Fails when too many polls wait already, or when the caller may not ask any more.
pub async fn wait_for_commit(app: &App, poll: &mut Poll, caller: &mut Caller) -> ApiResult<Option<i64>> {
    loop {
        match poll.wait(caller.user_id()).await.map_err(too_many_polls)? {
            Wake::LogEnd(end) => return Ok(Some(end)),
            Wake::TimedOut => return Ok(None),
            Wake::Recheck => *caller = caller.again(app).await?,
        }
    }
}

fn too_many_polls(reached: LimitReached) -> ApiError {
    let (whose, most) = match reached {
        LimitReached::User(most) => ("This user has", most),
        LimitReached::Account(most) => ("The users of this account have", most),
    };
    let message = format!(
        "{whose} {most} requests with \"wait\" under way, which is the most. Wait for one of them to be answered, or \
         follow GET /api/stream, which serves any number of devices by one connection."
    );
    ApiError::new(ErrorCode::RateLimited, message).with_header(RETRY_AFTER, RETRY_AFTER_S)
}
