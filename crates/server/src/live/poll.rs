//! A request that waits until something happens in its account.

use std::time::Duration;

use http::header;
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::seats::{Full, Seat};
use crate::app::App;
use crate::http::code::Code;
use crate::http::error::{ApiError, ApiResult};
use crate::http::extract::Caller;

/// How often it is looked at who waits, well within the promised five seconds.
const CHECK_EVERY: Duration = Duration::from_secs(2);
/// What a client waits when there is no place for its poll.
const RETRY_AFTER_S: &str = "10";

/// A poll and how long it may wait.
pub struct Poll {
    waits: Option<Waits>,
    stopping: CancellationToken,
    deadline: Instant,
}

struct Waits {
    end: watch::Receiver<Option<i64>>,
    seat: Option<Seat>,
}

impl Poll {
    /// Begins a poll of the caller's account. To be called before the first look at the log, so that nothing is
    /// stored unnoticed between the look and the wait.
    pub fn begin(app: &App, caller: &Caller, longest: Duration) -> Self {
        let subscribe = || {
            let mut end = app.live.ends.subscribe(app, caller.scope().account);
            end.mark_unchanged();
            Waits { end, seat: None }
        };
        Self {
            waits: (!longest.is_zero()).then(subscribe),
            stopping: app.signals.stopping().clone(),
            deadline: Instant::now() + longest,
        }
    }

    /// Waits until the log of the account goes on and gives its end; none when the time is over. Fails when too many
    /// wait already, or when the caller may not ask any more.
    pub async fn wait(&mut self, app: &App, caller: &mut Caller) -> ApiResult<Option<i64>> {
        let Some(waits) = &mut self.waits else { return Ok(None) };
        if waits.seat.is_none() {
            let seat = app.live.sit_down_to_wait(caller.scope().account, caller.user_id());
            waits.seat = Some(seat.map_err(too_many_polls)?);
        }
        loop {
            let now = Instant::now();
            if now >= self.deadline || self.stopping.is_cancelled() {
                return Ok(None);
            }
            tokio::select! {
                () = self.stopping.cancelled() => return Ok(None),
                changed = waits.end.changed() => {
                    if changed.is_err() {
                        return Ok(None);
                    }
                    if let Some(end) = *waits.end.borrow_and_update() {
                        return Ok(Some(end));
                    }
                }
                () = sleep_until(self.deadline.min(now + CHECK_EVERY)) => *caller = caller.again(app).await?,
            }
        }
    }
}

fn too_many_polls(full: Full) -> ApiError {
    let (whose, most) = match full {
        Full::User(most) => ("This user has", most),
        Full::Account(most) => ("The users of this account have", most),
    };
    let message = format!(
        "{whose} {most} requests with \"wait\" under way, which is the most. Wait for one of them to be answered, or \
         follow GET /api/stream, which serves any number of devices by one connection."
    );
    ApiError::new(Code::RateLimited, message).with_header(header::RETRY_AFTER, RETRY_AFTER_S)
}
