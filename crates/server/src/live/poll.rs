//! A request that waits until something is committed in its account.

use std::sync::Arc;
use std::time::Duration;

use perigee_core::id::{AccountId, UserId};
use tokio::sync::watch;
use tokio::time::{Instant, sleep_until};
use tokio_util::sync::CancellationToken;

use super::Live;
use super::permits::{LimitReached, Permit};

/// How often a waiting caller's rights are checked again, well within the promised five seconds.
const RECHECK_EVERY: Duration = Duration::from_secs(2);

/// A poll and how long it may wait.
pub struct Poll {
    live: Arc<Live>,
    account: AccountId,
    waiting: Option<Waiting>,
    stopping: CancellationToken,
    deadline: Instant,
}

struct Waiting {
    end: watch::Receiver<Option<i64>>,
    permit: Option<Permit>,
}

/// Why a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wake {
    /// The log has new events; the last has this number.
    LogEnd(i64),
    /// The rights of the caller must be checked again; then wait again.
    Recheck,
    /// The time is over, or the service stops.
    TimedOut,
}

impl Poll {
    /// Begins a poll of an account. To be called before the first read of the log, so that no commit between the read
    /// and the wait goes unnoticed.
    pub fn begin(live: &Arc<Live>, account: AccountId, longest: Duration) -> Self {
        let subscribe = || {
            let mut end = live.log_ends.subscribe(live, account);
            end.mark_unchanged();
            Waiting { end, permit: None }
        };
        Self {
            live: Arc::clone(live),
            account,
            waiting: (!longest.is_zero()).then(subscribe),
            stopping: live.parts.stopping.clone(),
            deadline: Instant::now() + longest,
        }
    }

    /// Waits until the log of the account has new events. Fails if the user or the account has too many waiting polls.
    pub async fn wait(&mut self, user: UserId) -> Result<Wake, LimitReached> {
        let Some(waiting) = &mut self.waiting else { return Ok(Wake::TimedOut) };
        if waiting.permit.is_none() {
            waiting.permit = Some(self.live.permit_poll(self.account, user)?);
        }
        loop {
            let now = Instant::now();
            if now >= self.deadline || self.stopping.is_cancelled() {
                return Ok(Wake::TimedOut);
            }
            tokio::select! {
                () = self.stopping.cancelled() => return Ok(Wake::TimedOut),
                changed = waiting.end.changed() => {
                    if changed.is_err() {
                        return Ok(Wake::TimedOut);
                    }
                    if let Some(end) = *waiting.end.borrow_and_update() {
                        return Ok(Wake::LogEnd(end));
                    }
                }
                () = sleep_until(self.deadline.min(now + RECHECK_EVERY)) => return Ok(Wake::Recheck),
            }
        }
    }
}
