//! Examines plans whose devices sent something or whose time came, and queues the messages that ask travellers to check in.

use std::collections::VecDeque;
use std::time::Duration;

use perigee_core::access::actor::Scope;
use perigee_core::error::StoreError;
use perigee_core::id::AccountId;

use crate::app::{App, ComposeNudge};

/// Pause when nothing has to be examined.
const IDLE: Duration = Duration::from_secs(5);
/// Accounts that are looked at in one run, in turn.
const ACCOUNTS: u32 = 200;
/// Plans of one transaction.
const PLANS: u32 = 20;
/// Transactions of one run, so that other work is not delayed.
const SLICES: usize = 500;
/// Messages of one run.
const NUDGES: u32 = 100;

/// Examines the plans that are waiting, account by account, and returns the pause until the next run.
pub async fn examine_plans(app: &App, compose: ComposeNudge) -> Duration {
    let accounts = match app.store.accounts_with_due_plans(ACCOUNTS).await {
        Ok(accounts) => accounts,
        Err(error) => {
            warn(&error, "could not look for plans to examine");
            return IDLE;
        }
    };
    let mut queue: VecDeque<AccountId> = accounts.into();
    for _ in 0..SLICES {
        let Some(account) = queue.pop_front() else { break };
        match app.store.evaluate_plans(account, PLANS).await {
            Ok(done) => {
                if done.alerts > 0 {
                    tracing::info!(%account, alerts = done.alerts, "plans raised alerts");
                }
                if done.more {
                    queue.push_back(account);
                }
            }
            Err(error) => warn(&error, "could not examine plans; this is tried again"),
        }
    }
    send_nudges(app, compose).await;
    IDLE
}

/// Queues the messages that wait. One that cannot be queued is dropped: the traveller is asked by e-mail and SMS too, and the
/// contacts are warned whether or not it arrives.
async fn send_nudges(app: &App, compose: ComposeNudge) {
    let nudges = match app.store.list_plan_nudges(NUDGES).await {
        Ok(nudges) => nudges,
        Err(error) => return warn(&error, "could not look for messages of plans"),
    };
    for nudge in nudges {
        let scope = Scope::for_background_job(nudge.account);
        let message = match compose(app, scope, &nudge).await {
            Ok(message) => message,
            Err(error) => {
                warn(&error, "could not compose a message of a plan; this is tried again");
                continue;
            }
        };
        match app.store.send_plan_nudge(&nudge, message).await {
            Ok(_) => {}
            Err(StoreError::TooMany { .. } | StoreError::TooManyBilled { .. } | StoreError::NotFound(_)) => {
                if let Err(error) = app.store.send_plan_nudge(&nudge, None).await {
                    warn(&error, "could not drop a message of a plan");
                }
            }
            Err(error) => warn(&error, "could not queue a message of a plan; this is tried again"),
        }
    }
}

fn warn(error: &StoreError, what: &str) {
    tracing::warn!(error = error as &dyn std::error::Error, "{what}");
}
