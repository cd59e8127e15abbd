//! Caches the pages of share links: one page is built at a time for each link, for all viewers who wait for it.
//!
//! Accounts take turns at building, one page of an account at a time. The bytes of a page count against its account until
//! the last viewer has received it, so that slow viewers of many different pages do not fill the memory.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::time::Duration;

use bytes::Bytes;
use parking_lot::Mutex;
use perigee_core::id::AccountId;
use perigee_core::locations::place::Reader;
use perigee_core::time::Timestamp;
use tokio::runtime::Handle;
use tokio::sync::OwnedMutexGuard;
use tokio::task::JoinError;

use crate::budget::{Budget, Exhausted, Payer, Permit, Pool, Queue};

/// Maximum number of viewers of one link that wait at the same time; more are refused.
const WAITING_MAX: usize = 256;
/// Maximum number of pages cached for a link, which differ by the start of their trails.
const PAGES_MAX: usize = 4;
/// Number of links above which links without viewers are removed from the cache.
const LINKS_MAX: usize = 16;
/// Milliseconds for which a page of many devices is used although something was stored since.
const LARGE_PAGE_TTL_MS: i64 = 1_000;
/// How long a page stays in the cache at most; equal to [`LARGE_PAGE_TTL_MS`].
const KEPT: Duration = Duration::from_secs(1);
/// Number of devices from which on a page counts as a page of many devices.
const LARGE_PAGE_DEVICES: usize = 100;

/// The pages cached on a node.
pub struct ShareCache {
    links: Mutex<HashMap<String, Arc<Link>>>,
    builds: Arc<Queue>,
    bytes: Arc<Pool>,
    built: AtomicU64,
}

type Pages = tokio::sync::Mutex<VecDeque<Cached>>;

#[derive(Default)]
struct Link {
    waiting: AtomicUsize,
    /// Locked by the viewer who builds the next page.
    pages: Arc<Pages>,
}

/// A share link, and the account that pays for its pages.
#[derive(Clone, Copy, Debug)]
pub struct OpenLink<'l> {
    /// The last part of its address.
    pub secret: &'l str,
    /// The account whose devices it shows.
    pub account: AccountId,
}

struct Cached {
    key: PageKey,
    page: SharePage,
}

/// The cache key of a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageKey {
    /// Start of the trails that are shown; none without trails.
    pub trail: Option<Timestamp>,
    /// Number of the last event of the account.
    pub end: i64,
    /// Time of the request.
    pub now: Timestamp,
    /// Language and units of `place`; none without places.
    pub place: Option<Reader>,
    /// Whether trips are shown, if the link allows it.
    pub trips: bool,
    /// Whether conversations are shown, if the link allows it.
    pub conversation: bool,
}

impl PageKey {
    /// Whether a page with this key may still be shown to someone.
    fn is_fresh(self, now: Timestamp) -> bool {
        (0..LARGE_PAGE_TTL_MS).contains(&(now.as_millis() - self.now.as_millis()))
    }

    /// Whether a page with this key and this many devices may be shown for another key.
    fn serves(self, other: Self, devices: usize) -> bool {
        let age = other.now.as_millis() - self.now.as_millis();
        self.trail == other.trail
            && self.place == other.place
            && self.trips == other.trips
            && self.conversation == other.conversation
            && self.is_fresh(other.now)
            && (devices >= LARGE_PAGE_DEVICES || (self.end == other.end && age == 0))
    }
}

/// A page of a share link, encoded.
#[derive(Clone, Debug)]
pub struct SharePage {
    /// The JSON body of the answer.
    pub body: Bytes,
    /// Number of devices it shows.
    pub devices: usize,
}

/// Why there is no page.
#[derive(Debug)]
pub enum PageError<E> {
    /// Too many viewers wait for this link.
    Busy,
    /// The task that built it panicked or was cancelled.
    Lost(JoinError),
    /// Building it failed with this error.
    Build(E),
    /// Too many pages are being built, or too many bytes of pages wait for slow viewers.
    Exhausted(Exhausted),
}

impl<E> From<Exhausted> for PageError<E> {
    fn from(exhausted: Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}

impl SharePage {
    /// The same page, which returns its bytes to the pool when the last viewer has received it.
    fn with_permit(self, permit: Permit) -> Self {
        let body = Bytes::from_owner(PermittedBody { body: self.body, _permit: permit });
        Self { body, ..self }
    }
}

/// Bytes, and the permit to hold them.
struct PermittedBody {
    body: Bytes,
    _permit: Permit,
}

impl AsRef<[u8]> for PermittedBody {
    fn as_ref(&self) -> &[u8] {
        &self.body
    }
}

/// Counts a waiting viewer until it is dropped.
struct Waiting<'a>(&'a AtomicUsize);

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl ShareCache {
    /// An empty cache that uses these budgets.
    pub fn new(budget: &Budget) -> Self {
        Self {
            links: Mutex::default(),
            builds: Arc::clone(&budget.page_builds),
            bytes: Arc::clone(&budget.pages),
            built: AtomicU64::new(0),
        }
    }

    /// The page for this key: from the cache, or built now. It is built on another thread than those that serve
    /// connections. Once begun it is built to the end, even if the viewer who started it disconnects.
    pub async fn get<E: Send + 'static>(
        &self,
        runtime: &Handle,
        link: OpenLink<'_>,
        key: PageKey,
        build: impl Future<Output = Result<SharePage, E>> + Send + 'static,
    ) -> Result<SharePage, PageError<E>> {
        let payer = Payer::account(link.account);
        let link = self.link(link.secret);
        if link.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING_MAX {
            link.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(PageError::Busy);
        }
        let _waiting = Waiting(&link.waiting);
        let mut pages = Arc::clone(&link.pages).lock_owned().await;
        if let Some(known) = pages.iter().find(|cached| cached.key.serves(key, cached.page.devices)) {
            return Ok(known.page.clone());
        }
        pages.retain(|cached| cached.key.is_fresh(key.now));
        let slot = self.builds.acquire(payer, 0).await?;
        self.built.fetch_add(1, Ordering::Relaxed);
        let (bytes, cached, timer) = (Arc::clone(&self.bytes), Arc::downgrade(&link.pages), runtime.clone());
        let task = runtime.spawn(async move {
            let _slot = slot;
            let page = build.await.map_err(PageError::Build)?;
            let size = page.body.len();
            let permit = bytes.try_acquire(payer, size).or_else(|_full| {
                // Pages without a viewer are dropped first.
                pages.clear();
                bytes.try_acquire(payer, size)
            })?;
            let page = page.with_permit(permit);
            insert(pages, Cached { key, page: page.clone() });
            timer.spawn(async move {
                tokio::time::sleep(KEPT).await;
                if let Some(pages) = cached.upgrade() {
                    pages.lock().await.retain(|cached| cached.key != key);
                }
            });
            Ok(page)
        });
        task.await.map_err(PageError::Lost)?
    }

    /// Pages built since the start, however many viewers there were.
    pub fn built(&self) -> u64 {
        self.built.load(Ordering::Relaxed)
    }

    fn link(&self, secret: &str) -> Arc<Link> {
        let mut links = self.links.lock();
        if let Some(link) = links.get(secret) {
            return Arc::clone(link);
        }
        if links.len() >= LINKS_MAX {
            links.retain(|_, link| Arc::strong_count(link) > 1);
        }
        Arc::clone(links.entry(secret.to_owned()).or_default())
    }
}

fn insert(mut pages: OwnedMutexGuard<VecDeque<Cached>>, new: Cached) {
    pages.retain(|cached| cached.key.trail != new.key.trail);
    if pages.len() >= PAGES_MAX {
        pages.pop_front();
    }
    pages.push_back(new);
}

#[cfg(test)]
mod tests;
