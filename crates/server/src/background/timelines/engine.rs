//! The timeline engine of a node: accounts take turns, and the work takes a bounded share of the time.

use std::collections::VecDeque;
use std::time::Duration;

use perigee_core::id::{AccountId, DeviceId};
use perigee_core::store::AccountLease;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::app::App;
use crate::cache::BoundedMap;

/// Duration of the lease of an account, in milliseconds. Each round extends it.
const LEASE_MS: i64 = 20_000;
/// Pause if there was nothing to do, and the shortest pause otherwise. Locations that arrive within it are derived
/// together.
const IDLE: Duration = Duration::from_secs(1);
const REST_MAX: Duration = Duration::from_secs(10);
/// The pause after work, as a multiple of its duration, so that most of the CPU is left to submissions.
const REST_SHARE: u32 = 4;
/// Duration after which a pass ends. Accounts with more to do wait for the next one.
const PASS: Duration = Duration::from_secs(3);
/// Maximum number of accounts whose position is remembered.
const POSITIONS_MAX: usize = 10_000;

/// Whether the engines of this process derive nothing, to measure what the derivation costs.
#[cfg(feature = "bench")]
static IS_OFF: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);

/// Derives the timelines of all accounts that are not leased by another node.
pub struct TimelineEngine {
    pub(super) app: App,
    owner: String,
    /// The marked device after which the next slice of an account begins.
    pub(super) positions: parking_lot::Mutex<BoundedMap<AccountId, DeviceId>>,
}

/// The result of a slice of an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There was nothing to do, or another node has the lease.
    Nothing,
    /// All marked devices are derived.
    Done,
    /// There is more to do.
    More,
}

impl TimelineEngine {
    /// The engine of this node.
    pub fn new(app: App) -> Self {
        let owner = format!("{:032x}", rand::random::<u128>());
        Self { app, owner, positions: parking_lot::Mutex::new(BoundedMap::new(POSITIONS_MAX)) }
    }

    /// Makes the engines of this process derive nothing, for benchmarks. They must not have been started.
    #[cfg(feature = "bench")]
    pub fn switch_off() {
        IS_OFF.store(true, std::sync::atomic::Ordering::Relaxed);
    }

    /// Runs until it is stopped, and ends after the slice that is running.
    pub async fn run(self, stop: CancellationToken) {
        #[cfg(feature = "bench")]
        if IS_OFF.load(std::sync::atomic::Ordering::Relaxed) {
            return;
        }
        while !stop.is_cancelled() {
            let started = Instant::now();
            let worked = self.pass(&stop).await;
            let took = started.elapsed();
            let rest = if worked { (took * REST_SHARE).clamp(IDLE, REST_MAX) } else { IDLE };
            tokio::select! {
                () = stop.cancelled() => {}
                () = tokio::time::sleep(rest) => {}
            }
        }
    }

    /// Derives all marked devices of all accounts, for tests.
    pub async fn run_to_end(&self) {
        while self.pass(&CancellationToken::new()).await {}
    }

    /// Runs slices of the accounts that are behind, in turn, until none has more to do or [`PASS`] is over. Returns whether
    /// there was anything to do.
    async fn pass(&self, stop: &CancellationToken) -> bool {
        let (ends, mut worked) = (Instant::now() + PASS, false);
        let mut queue = VecDeque::from(self.accounts().await);
        while let Some(account) = queue.pop_front() {
            if stop.is_cancelled() || Instant::now() >= ends {
                break;
            }
            let outcome = self.slice(account).await;
            worked |= outcome != Outcome::Nothing;
            if outcome == Outcome::More {
                queue.push_back(account);
            }
        }
        worked
    }

    async fn accounts(&self) -> Vec<AccountId> {
        self.app.store.accounts_with_timeline_work().await.unwrap_or_else(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, "could not look for timelines to derive");
            Vec::new()
        })
    }

    async fn slice(&self, account: AccountId) -> Outcome {
        self.round(account).await.unwrap_or_else(|error| {
            let error = &error as &dyn std::error::Error;
            tracing::warn!(error, %account, "could not derive timelines; this is tried again");
            Outcome::Nothing
        })
    }

    pub(super) fn lease(&self) -> AccountLease<'_> {
        AccountLease { owner: &self.owner, duration_ms: LEASE_MS }
    }
}
