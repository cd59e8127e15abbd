//! The budgets of a node.

use std::sync::Arc;
use std::thread::available_parallelism;

use super::exhausted::RunError;
use super::metrics;
use super::payer::Payer;
use super::pool::Pool;
use super::queue::{Queue, QueueLimits, StrangerLimits};
use crate::config::BudgetSection;

const MIB: usize = 1024 * 1024;
/// Bytes that all running password hashes may take: eight at the same time on machines of many cores.
const HASHES_MEMORY: usize = 160 * MIB;
/// Attempts to sign in that run at the same time, in total and of one address.
const ATTEMPTS: usize = 64;
const ATTEMPTS_EACH: usize = 4;
/// Sign-ins from unknown networks, for each core: how many run at the same time, and how many networks may wait. A hash
/// takes about 50 ms, so a waiting client waits at most half a second. Clients beyond these bounds are asked to retry.
const STRANGERS_RUNNING: usize = 4;
const STRANGERS_WAITING: usize = 6;
/// Factor by which more attempts may wait than other work. They are small, and an office behind one address signs in
/// within the same minute.
const ATTEMPTS_WAITING: usize = 4;
/// The same for reads: a waiting read is small, and programs read many devices at the same time.
const READS_WAITING: usize = 4;
/// Reads that run at the same time: in total, as many as the store has readers, and of one account.
const READS: usize = 8;
const READS_EACH: usize = 6;

/// Bytes of pages of share links, in total and of one account. A page of 10,000 devices has about 4 MiB.
const PAGES_BYTES: usize = 96 * MIB;
const PAGES_BYTES_EACH: usize = 36 * MIB;
/// Pages built at the same time, so that the other cores stay free.
const PAGE_BUILDS: usize = 2;
/// Stored messages that are decoded again at the same time.
const REPROCESSING: usize = 2;
/// Tiles of other servers that are fetched at the same time, and for one address: as many as a browser requests from
/// one host at the same time.
const TILES: usize = 16;
const TILES_EACH: usize = 6;
/// Tiles that may wait, as a multiple of other work: a map requests about fifty at once.
const TILES_WAITING: usize = 8;
/// Reports that are made as files at the same time.
const REPORTS: usize = 2;
/// Accounts whose rules wait for their turn; more than the rule engine evaluates at the same time.
const RULES_WAITING: usize = 64;

/// The budgets of a node. Clones share them.
#[derive(Clone, Debug)]
pub struct Budget {
    /// Bytes of request bodies that are received or kept until their request is done.
    pub bodies: Arc<Pool>,
    /// Bytes of answers that are written whole or in large parts, until they are sent.
    pub answers: Arc<Pool>,
    /// Work whose cost the client chooses: decompression, reading large bodies, patches, templates.
    pub work: Arc<Queue>,
    /// Hashing of passwords, separate from other work so that neither delays the other.
    pub hashes: Arc<Queue>,
    /// Attempts to sign in. Few attempts of one address run at the same time, so that they cannot use up its limit on
    /// failures before the first result is known. Clients that signed in before take precedence.
    pub attempts: Arc<Queue>,
    /// Attempts to get a token. They need no password hash, and must not wait for those that do.
    pub key_attempts: Arc<Queue>,
    /// Reading of histories and lists, part by part in turns, so that an account that reads much does not use all
    /// readers of the store.
    pub reads: Arc<Queue>,
    /// Bytes of pages of share links that are cached or being received.
    pub pages: Arc<Pool>,
    /// Building of these pages, one of an account at a time.
    pub page_builds: Arc<Queue>,
    /// Changes of groups of many devices, one at a time.
    pub large_groups: Arc<Queue>,
    /// Decoding of stored messages again, one of an account at a time.
    pub reprocessing: Arc<Queue>,
    /// Tiles that are fetched from other servers.
    pub tiles: Arc<Queue>,
    /// Making of reports as files, one of an account at a time, which bounds the size of temporary files.
    pub reports: Arc<Queue>,
    /// Evaluation of rules in the background. One core is left for requests.
    pub rules: Arc<Queue>,
}

impl Budget {
    /// Unused budgets with the configured sizes.
    pub fn new(config: &BudgetSection) -> Self {
        metrics::describe();
        let cores = available_parallelism().map_or(1, usize::from);
        let running = if config.work_threads == 0 { cores + 1 } else { config.work_threads };
        let mib = |count: usize| count.saturating_mul(MIB);
        let work = QueueLimits {
            running,
            running_each: all_but_one(running),
            memory: mib(config.work_mib),
            waiting: config.waiting,
            waiting_each: config.waiting_per_client,
            strangers: None,
        };
        let hashes = QueueLimits {
            running: cores,
            running_each: all_but_one(cores),
            memory: HASHES_MEMORY,
            strangers: Some(StrangerLimits { running: usize::MAX, lanes: usize::MAX }),
            ..work
        };
        let key_attempts = QueueLimits {
            running: ATTEMPTS,
            running_each: ATTEMPTS_EACH,
            memory: 0,
            waiting: config.waiting.saturating_mul(ATTEMPTS_WAITING),
            waiting_each: config.waiting,
            strangers: None,
        };
        let strangers =
            StrangerLimits { running: STRANGERS_RUNNING * cores, lanes: STRANGERS_WAITING * cores };
        let attempts = QueueLimits { strangers: Some(strangers), ..key_attempts };
        let reads = QueueLimits {
            running: READS,
            running_each: READS_EACH,
            memory: 0,
            waiting: config.waiting.saturating_mul(READS_WAITING),
            waiting_each: config.waiting,
            strangers: None,
        };
        let page_builds = QueueLimits { running: PAGE_BUILDS, running_each: 1, memory: 0, ..work };
        let large_groups = QueueLimits { running: 1, running_each: 1, memory: 0, ..work };
        let reprocessing = QueueLimits { running: REPROCESSING, running_each: 1, memory: 0, ..work };
        let tiles = QueueLimits {
            running: TILES,
            running_each: TILES_EACH,
            memory: mib(config.work_mib) / 2,
            waiting: config.waiting.saturating_mul(TILES_WAITING),
            waiting_each: config.waiting,
            strangers: None,
        };
        let reports = QueueLimits { running: REPORTS, running_each: 1, memory: 0, ..work };
        let rules = QueueLimits {
            running: cores.max(2) - 1,
            running_each: 1,
            memory: 0,
            waiting: RULES_WAITING,
            waiting_each: RULES_WAITING,
            strangers: None,
        };
        Self {
            bodies: Pool::new(
                "bodies",
                mib(config.body_mib),
                mib(config.body_mib_per_address),
                mib(config.body_mib_per_account),
            ),
            answers: Pool::new(
                "answers",
                mib(config.answer_mib),
                mib(config.answer_mib) / 2,
                mib(config.answer_mib) / 2,
            ),
            work: Queue::new("work", work),
            hashes: Queue::new("hashes", hashes),
            attempts: Queue::new("attempts", attempts),
            key_attempts: Queue::new("key_attempts", key_attempts),
            reads: Queue::new("reads", reads),
            pages: Pool::new("pages", PAGES_BYTES, PAGES_BYTES, PAGES_BYTES_EACH),
            page_builds: Queue::new("page_builds", page_builds),
            large_groups: Queue::new("large_groups", large_groups),
            reprocessing: Queue::new("reprocessing", reprocessing),
            tiles: Queue::new("tiles", tiles),
            reports: Queue::new("reports", reports),
            rules: Queue::new("rules", rules),
        }
    }

    /// Runs work that needs this many bytes of memory off the threads that serve connections, when it is the payer's
    /// turn. The work runs to its end even if the caller is cancelled.
    pub async fn run<T: Send + 'static>(
        &self,
        payer: Payer,
        memory: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RunError> {
        self.work.run(payer, memory, work).await
    }

    /// Publishes the metrics of every budget.
    pub fn publish(&self) {
        metrics::publish_pool(&self.bodies);
        metrics::publish_pool(&self.answers);
        metrics::publish_queue(&self.work);
        metrics::publish_queue(&self.hashes);
        metrics::publish_queue(&self.attempts);
        metrics::publish_queue(&self.key_attempts);
        metrics::publish_queue(&self.reads);
        metrics::publish_pool(&self.pages);
        metrics::publish_queue(&self.page_builds);
        metrics::publish_queue(&self.large_groups);
        metrics::publish_queue(&self.reprocessing);
        metrics::publish_queue(&self.tiles);
        metrics::publish_queue(&self.reports);
        metrics::publish_queue(&self.rules);
    }
}

/// Slots one client may use, so that one is left for others.
const fn all_but_one(running: usize) -> usize {
    if running > 1 { running - 1 } else { 1 }
}

#[cfg(test)]
impl Budget {
    /// Budgets of the default sizes.
    pub(crate) fn for_test() -> Self {
        Self::new(&BudgetSection {
            body_mib: 96,
            body_mib_per_address: 48,
            body_mib_per_account: 48,
            answer_mib: 64,
            work_mib: 80,
            work_threads: 0,
            waiting: 512,
            waiting_per_client: 64,
        })
    }
}
