//! The rule engine of a node: its accounts, and their compiled rules.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use metrics::{describe_gauge, gauge};
use perigee_core::error::StoreError;
use perigee_core::id::AccountId;
use perigee_core::rules::rule::RuleSet;
use perigee_core::store::{AccountLease, Result, RoundStart};
use tokio::task::{self, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::account_queue::AccountQueue;
use super::rule_sets::{Known, RuleSets};
use super::slice_size::SliceSizes;
use super::state_cache::StateCaches;
use crate::app::App;
use crate::budget::Payer;

/// Milliseconds for which an account stays with the node that made its last round.
const LEASE_MS: i64 = 10_000;
/// Accounts evaluated at the same time.
const CONCURRENCY: usize = 8;
/// Pause after a commit, so that locations that arrive together are evaluated together.
const COMMIT_PAUSE: Duration = Duration::from_millis(100);
/// Pause if there was nothing to do.
const IDLE: Duration = Duration::from_secs(1);
/// Pauses if there was some work, and if there was much: locations that arrive meanwhile are evaluated together, so
/// that the fixed cost per device is paid once for all of them.
const BUSY: Duration = Duration::from_millis(200);
const VERY_BUSY: Duration = Duration::from_millis(600);

/// Evaluates the location log of all accounts that are not leased by another node.
pub struct RuleEngine {
    pub(super) app: App,
    owner: String,
    rule_sets: RuleSets,
    pub(super) state_caches: StateCaches,
    pub(super) sizes: SliceSizes,
}

/// The result of a round of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There was nothing to do, or another node has the lease.
    Nothing,
    /// The log was evaluated to its end.
    Done,
    /// The log was evaluated to its end, and there was a lot.
    DoneALot,
    /// The log has more locations.
    More,
}

impl Outcome {
    /// Pause before the next read of the log.
    const fn rest(self) -> Duration {
        match self {
            Self::Nothing => IDLE,
            Self::Done => BUSY,
            Self::DoneALot => VERY_BUSY,
            Self::More => Duration::ZERO,
        }
    }
}

impl RuleEngine {
    /// The engine of this node.
    pub fn new(app: App) -> Self {
        describe_gauge!(
            "perigee_rules_lag_seconds",
            "Age of the oldest location when rules evaluated it, in the last round."
        );
        let owner = format!("{:032x}", rand::random::<u128>());
        Self {
            app,
            owner,
            rule_sets: RuleSets::default(),
            state_caches: StateCaches::default(),
            sizes: SliceSizes::default(),
        }
    }

    /// Runs until it is stopped, and ends after the slices that are running. Looks for accounts with new locations
    /// after each commit, and every second because other nodes commit too.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        let mut queue = AccountQueue::default();
        let mut slices: JoinSet<Outcome> = JoinSet::new();
        let mut accounts: HashMap<task::Id, AccountId> = HashMap::new();
        let mut commits = self.app.store.commit_signals().of_any_account();
        let mut read_at = Instant::now();
        let mut rest = IDLE;
        while !stop.is_cancelled() {
            if Instant::now() >= read_at {
                queue.offer(self.accounts().await.unwrap_or_default());
                read_at = Instant::now() + std::mem::replace(&mut rest, IDLE);
            }
            while slices.len() < CONCURRENCY
                && let Some(account) = queue.next()
            {
                let engine = Arc::clone(&self);
                let slice = slices.spawn(async move { engine.slice(account).await });
                accounts.insert(slice.id(), account);
            }
            // If the next read is due within the pause, a commit cannot make it earlier, and waking up for each commit
            // would add a tenth to the time of every submission.
            let is_read_near = read_at <= Instant::now() + COMMIT_PAUSE;
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep_until(read_at) => {}
                Ok(()) = commits.changed(), if !is_read_near => read_at = read_at.min(Instant::now() + COMMIT_PAUSE),
                Some(ended) = slices.join_next_with_id() => {
                    let (id, outcome) = ended.unwrap_or_else(|error| {
                        tracing::error!(%error, "the evaluation of an account failed");
                        (error.id(), Outcome::Nothing)
                    });
                    if let Some(account) = accounts.remove(&id) {
                        queue.end(account, outcome == Outcome::More);
                    }
                    // An account with more to do is in the queue already.
                    rest = rest.min(if outcome == Outcome::More { BUSY } else { outcome.rest() });
                    read_at = read_at.min(Instant::now() + rest);
                }
            }
        }
        while slices.join_next().await.is_some() {}
    }

    /// Evaluates a slice of every account that has new locations, waits for all of them, and returns the pause until
    /// the next call.
    pub async fn run_once(&self) -> Duration {
        let Some(accounts) = self.accounts().await.filter(|accounts| !accounts.is_empty()) else {
            return IDLE;
        };
        let slices = stream::iter(accounts).map(|account| self.slice(account)).buffer_unordered(CONCURRENCY);
        slices.map(Outcome::rest).fold(IDLE, |least, rest| async move { least.min(rest) }).await
    }

    /// The accounts that have something to evaluate; none if they cannot be read.
    async fn accounts(&self) -> Option<Vec<AccountId>> {
        match self.app.store.accounts_with_work().await {
            Ok(accounts) => {
                if accounts.is_empty() {
                    gauge!("perigee_rules_lag_seconds").set(0.0);
                }
                Some(accounts)
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "could not look for locations to evaluate");
                None
            }
        }
    }

    async fn slice(&self, account: AccountId) -> Outcome {
        self.round(account).await.unwrap_or_else(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, %account, "could not evaluate locations; this is tried again");
            Outcome::Nothing
        })
    }

    /// Leases an account; none if another node has it.
    pub(super) async fn take(&self, account: AccountId) -> Result<Option<RoundStart>> {
        self.app.store.lease_account(account, self.lease()).await
    }

    pub(super) fn lease(&self) -> AccountLease<'_> {
        AccountLease { owner: &self.owner, duration_ms: LEASE_MS }
    }

    /// The compiled rules of an account, cached by revision. None if they are large and were compiled a moment ago.
    pub(super) async fn rules(&self, round_start: &RoundStart) -> Result<Option<Arc<RuleSet>>> {
        let (account, clock) = (round_start.account, &self.app.clock);
        match self.rule_sets.find(account, round_start.rules_revision, clock.monotonic()) {
            Known::Current(set) => return Ok(Some(set)),
            Known::TooSoon => return Ok(None),
            Known::Outdated => {}
        }
        let (revision, rules, fences) = self.app.store.load_rules(account).await?;
        let compile = move || RuleSet::new(revision, rules, &fences);
        let compiled = self.app.budget.rules.run(Payer::account(account), 0, compile).await;
        let set = Arc::new(compiled.map_err(|error| StoreError::Internal(Box::new(error)))?);
        self.rule_sets.insert(account, Arc::clone(&set), clock.monotonic());
        Ok(Some(set))
    }
}
