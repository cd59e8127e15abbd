//! Examines maintenance plans whose timeline changed or whose date came, and raises the alerts of those that became due.

use std::collections::VecDeque;
use std::time::Duration;

use perigee_core::id::AccountId;

use crate::app::App;

/// Pause when nothing has to be examined. A plan is examined half a minute after its timeline changed.
const IDLE: Duration = Duration::from_secs(10);
/// Accounts that are looked at in one run, in turn.
const ACCOUNTS: u32 = 200;
/// Plans of one transaction.
const PLANS: u32 = 50;
/// Transactions of one run, so that other work is not delayed.
const SLICES: usize = 500;

/// Examines the plans that are waiting, account by account, and returns the pause until the next run.
pub async fn examine_maintenance(app: &App) -> Duration {
    let accounts = match app.store.accounts_with_due_maintenance(ACCOUNTS).await {
        Ok(accounts) => accounts,
        Err(error) => {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "could not look for maintenance plans to examine");
            return IDLE;
        }
    };
    let mut queue: VecDeque<AccountId> = accounts.into();
    for _ in 0..SLICES {
        let Some(account) = queue.pop_front() else { break };
        match app.store.evaluate_maintenance(account, PLANS).await {
            Ok(done) => {
                if done.alerts > 0 {
                    tracing::info!(%account, alerts = done.alerts, "maintenance became due");
                }
                if done.more {
                    queue.push_back(account);
                }
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, %account, "could not examine maintenance plans; this is tried again");
            }
        }
    }
    IDLE
}
