//! A node's part in following: which accounts it goes on with, and the rules it has made ready.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use metrics::{describe_gauge, gauge};
use perigee_core::id::AccountId;
use perigee_core::rule::RuleSet;
use perigee_core::store::{Followed, Lease, Result};
use tokio::task::{self, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::memory::Memories;
use super::slice::SliceSizes;
use super::turns::Turns;
use crate::app::App;

/// How long after its last round a node goes on with an account before another may.
const LEASE_MS: i64 = 10_000;
/// Accounts a node judges at once.
const AT_ONCE: usize = 8;
/// How long arrivals are gathered before they are judged.
const GATHER: Duration = Duration::from_millis(100);
/// Rule sets a node has ready.
const SETS_MOST: usize = 10_000;
/// How long to rest when there was nothing to do.
const IDLE: Duration = Duration::from_secs(1);
/// How long to rest when there was something, and when there was a lot: what arrives meanwhile is judged together, and
/// what a round costs for a device is shared by all its locations.
const BUSY: Duration = Duration::from_millis(200);
const VERY_BUSY: Duration = Duration::from_millis(600);

/// A node that follows the log.
pub struct Follower {
    pub(super) app: App,
    owner: String,
    sets: Mutex<HashMap<AccountId, Arc<RuleSet>>>,
    pub(super) memories: Memories,
    pub(super) sizes: SliceSizes,
}

/// How far an account has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There was nothing to do, or another node does it.
    Nothing,
    /// All there was is done.
    Done,
    /// All there was is done, and it was a lot.
    DoneALot,
    /// There is more.
    More,
}

impl Outcome {
    /// How long after it to look for more.
    const fn rest(self) -> Duration {
        match self {
            Self::Nothing => IDLE,
            Self::Done => BUSY,
            Self::DoneALot => VERY_BUSY,
            Self::More => Duration::ZERO,
        }
    }
}

impl Follower {
    /// The part of this service in it.
    pub fn new(app: App) -> Self {
        describe_gauge!(
            "perigee_rules_lag_seconds",
            "Age of the oldest location when it was judged by rules, in the last round."
        );
        let owner = format!("{:032x}", rand::random::<u128>());
        Self {
            app,
            owner,
            sets: Mutex::default(),
            memories: Memories::default(),
            sizes: SliceSizes::default(),
        }
    }

    /// Judges until told to stop, and ends after the slices under way. Looks for accounts with something to judge
    /// when something has arrived, and now and then.
    pub async fn run(self: Arc<Self>, stop: CancellationToken) {
        let mut turns = Turns::default();
        let mut slices: JoinSet<Outcome> = JoinSet::new();
        let mut accounts: HashMap<task::Id, AccountId> = HashMap::new();
        let mut arrivals = self.app.signals.any_account();
        let mut look_at = Instant::now();
        let mut rest = IDLE;
        while !stop.is_cancelled() {
            if Instant::now() >= look_at {
                turns.offer(self.accounts().await.unwrap_or_default());
                look_at = Instant::now() + std::mem::replace(&mut rest, IDLE);
            }
            while slices.len() < AT_ONCE
                && let Some(account) = turns.next()
            {
                let node = Arc::clone(&self);
                let slice = slices.spawn(async move { node.slice(account).await });
                accounts.insert(slice.id(), account);
            }
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep_until(look_at) => {}
                Ok(()) = arrivals.changed() => look_at = look_at.min(Instant::now() + GATHER),
                Some(ended) = slices.join_next_with_id() => {
                    let (id, outcome) = ended.unwrap_or_else(|error| {
                        tracing::error!(%error, "judging an account broke off");
                        (error.id(), Outcome::Nothing)
                    });
                    if let Some(account) = accounts.remove(&id) {
                        turns.end(account, outcome == Outcome::More);
                    }
                    // With more to do the account waits for its turn already.
                    rest = rest.min(if outcome == Outcome::More { BUSY } else { outcome.rest() });
                    look_at = look_at.min(Instant::now() + rest);
                }
            }
        }
        while slices.join_next().await.is_some() {}
    }

    /// Judges a slice of every account that has something to judge, waits for all of them, and says how long there is
    /// nothing to do.
    pub async fn run_once(&self) -> Duration {
        let Some(accounts) = self.accounts().await.filter(|accounts| !accounts.is_empty()) else {
            return IDLE;
        };
        let slices = stream::iter(accounts).map(|account| self.slice(account)).buffer_unordered(AT_ONCE);
        slices.map(Outcome::rest).fold(IDLE, |least, rest| async move { least.min(rest) }).await
    }

    /// The accounts that have something to judge; none when they cannot be read.
    async fn accounts(&self) -> Option<Vec<AccountId>> {
        match self.app.store.accounts_to_follow().await {
            Ok(accounts) => {
                if accounts.is_empty() {
                    gauge!("perigee_rules_lag_seconds").set(0.0);
                }
                Some(accounts)
            }
            Err(error) => {
                let error = &error as &dyn std::error::Error;
                tracing::warn!(error, "could not look for locations to judge");
                None
            }
        }
    }

    async fn slice(&self, account: AccountId) -> Outcome {
        self.round(account).await.unwrap_or_else(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, %account, "could not judge locations; they are judged later");
            Outcome::Nothing
        })
    }

    /// Goes on with an account, unless another node does.
    pub(super) async fn take(&self, account: AccountId) -> Result<Option<Followed>> {
        self.app.store.follow_account(account, self.lease()).await
    }

    pub(super) fn lease(&self) -> Lease<'_> {
        Lease { owner: &self.owner, lasts_ms: LEASE_MS }
    }

    /// The rules of an account, made ready once for each revision.
    pub(super) async fn rules(&self, followed: &Followed) -> Result<Arc<RuleSet>> {
        let known = self.lock().get(&followed.account).cloned();
        if let Some(known) = known.filter(|known| known.revision == followed.rules_revision) {
            return Ok(known);
        }
        let (revision, rules, fences) = self.app.store.load_rules(followed.account).await?;
        let made = tokio::task::spawn_blocking(move || RuleSet::new(revision, rules, &fences)).await;
        let made = Arc::new(made.map_err(|cause| perigee_core::error::StoreError::Internal(cause.into()))?);
        let mut sets = self.lock();
        if sets.len() >= SETS_MOST {
            sets.clear();
        }
        sets.insert(followed.account, Arc::clone(&made));
        Ok(made)
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, HashMap<AccountId, Arc<RuleSet>>> {
        self.sets.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
