//! A node's part in following: which accounts it goes on with, and the rules it has made ready.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::stream::{self, StreamExt as _};
use metrics::{describe_gauge, gauge};
use perigee_core::id::AccountId;
use perigee_core::rule::RuleSet;
use perigee_core::store::{Followed, Lease, Result};

use super::memory::Memories;
use crate::app::App;

/// How long after its last round a node goes on with an account before another may.
const LEASE_MS: i64 = 10_000;
/// Accounts a node judges at once.
const AT_ONCE: usize = 8;
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

impl Follower {
    /// The part of this service in it.
    pub fn new(app: App) -> Self {
        describe_gauge!(
            "perigee_rules_lag_seconds",
            "Age of the oldest location when it was judged by rules, in the last round."
        );
        let owner = format!("{:032x}", rand::random::<u128>());
        Self { app, owner, sets: Mutex::default(), memories: Memories::default() }
    }

    /// Judges what there is in every account, a part of each, and says how long to rest.
    pub async fn run(&self) -> Duration {
        let accounts = match self.app.store.accounts_to_follow().await {
            Ok(accounts) => accounts,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "could not look for locations to judge"
                );
                return IDLE;
            }
        };
        if accounts.is_empty() {
            gauge!("perigee_rules_lag_seconds").set(0.0);
            return IDLE;
        }
        let rounds = stream::iter(accounts).map(|account| self.follow(account)).buffer_unordered(AT_ONCE);
        let outcomes: Vec<Outcome> = rounds.collect().await;
        if outcomes.contains(&Outcome::More) {
            Duration::ZERO
        } else if outcomes.contains(&Outcome::DoneALot) {
            VERY_BUSY
        } else if outcomes.contains(&Outcome::Done) {
            BUSY
        } else {
            IDLE
        }
    }

    async fn follow(&self, account: AccountId) -> Outcome {
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
