//! Lets a request wait for a commit in its account, and checks its caller again meanwhile.

use http::header::RETRY_AFTER;

use super::error::{ApiError, ApiResult};
use super::error_code::ErrorCode;
use super::extract::Caller;
use crate::app::App;
use crate::live::{LimitReached, Poll, Wake};

/// Seconds after which a client whose poll was refused should try again.
const RETRY_AFTER_S: &str = "10";

/// Waits until an event is added to the log of the account and returns the number of the last event; `None` after the
/// time limit. Fails if too many polls are waiting, or if the caller is no longer authorised.
pub async fn wait_for_commit(app: &App, poll: &mut Poll, caller: &mut Caller) -> ApiResult<Option<i64>> {
    loop {
        match poll.wait(caller.user_id()).await.map_err(too_many_polls)? {
            Wake::LogEnd(end) => return Ok(Some(end)),
            Wake::TimedOut => return Ok(None),
            Wake::Recheck => *caller = caller.reauthenticate(app).await?,
        }
    }
}

fn too_many_polls(reached: LimitReached) -> ApiError {
    let (whose, most) = match reached {
        LimitReached::User(most) => ("This user has", most),
        LimitReached::Account(most) => ("The users of this account have", most),
    };
    let message = format!(
        "{whose} {most} requests with \"wait\" open, the maximum. Wait until one of them is answered, or use \
         GET /api/stream, which serves any number of devices over one connection."
    );
    ApiError::new(ErrorCode::RateLimited, message).with_header(RETRY_AFTER, RETRY_AFTER_S)
}
