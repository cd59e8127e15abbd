//! Retrying submissions whose device or account was locked by another transaction. They are retried separately from
//! other submissions, until the lock is free or their time limit is reached.

use std::collections::BTreeMap;
use std::time::Duration;

use futures_util::FutureExt as _;
use perigee_core::id::AccountId;
use tokio::time::{Instant, sleep};

use super::super::submission_queue::{Kind, Waiting};
use super::{answer, start_committer, store_and_answer};
use crate::Database;
use crate::error::Locked;

/// The first pause and the longest one between two attempts.
const PAUSE_FIRST: Duration = Duration::from_millis(4);
const PAUSE_MAX: Duration = Duration::from_millis(250);

/// Retries these submissions in the background. Their devices stay busy, so that the submissions of a device are
/// stored in order.
pub(super) fn try_later(database: &Database, kind: Kind, locked: Waiting) {
    let mut accounts: BTreeMap<AccountId, Waiting> = BTreeMap::new();
    for (submission, caller) in locked {
        accounts.entry(submission.scope.account).or_default().push((submission, caller));
    }
    for batch in accounts.into_values() {
        let again = try_again(database.clone(), kind, batch);
        // Boxed, because an attempt can start a committer.
        database.submission_queue().spawn(again.boxed());
    }
}

/// The schedule of retries.
pub(super) struct Attempts {
    until: Instant,
    pause: Duration,
}

impl Attempts {
    /// Allows retries for half of the time that callers wait; the other half is left for the commit.
    pub(super) fn begin(database: &Database) -> Self {
        Self { until: Instant::now() + database.answer_within() / 2, pause: PAUSE_FIRST }
    }

    /// Waits until the next attempt; false if there is none.
    pub(super) async fn next(&mut self) -> bool {
        if Instant::now() >= self.until {
            return false;
        }
        sleep(self.pause).await;
        self.pause = (self.pause * 2).min(PAUSE_MAX);
        true
    }
}

/// Retries the submissions of one account that are still locked.
async fn try_again(database: Database, kind: Kind, mut batch: Waiting) {
    let (queue, mut attempts) = (database.submission_queue(), Attempts::begin(&database));
    while attempts.next().await {
        // Few at a time: each takes a connection, for which others wait too.
        let permit = queue.retry_permit().await;
        batch = store_and_answer(&database, kind, batch).await;
        drop(permit);
        if batch.is_empty() {
            return;
        }
    }
    let (submissions, callers): (Vec<_>, Vec<_>) = batch.into_iter().unzip();
    for other in queue.ended(kind, &submissions) {
        start_committer(&database, other);
    }
    answer(callers.into_iter().map(|caller| (caller, Err(Locked::error()))));
}
