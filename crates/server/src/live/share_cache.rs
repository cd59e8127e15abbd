//! Caches what share links show: one page is built at a time for each link, and every viewer who waits gets it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use perigee_core::time::Timestamp;
use tokio::sync::{OwnedMutexGuard, Semaphore};
use tokio::task::JoinError;

/// Pages built at the same time, for all links together, so that the other cores stay free.
const BUILDS_MAX: usize = 2;
/// Viewers of one link that wait at the same time; more are refused.
const WAITING_MAX: usize = 256;
/// Pages cached for a link, which differ by the start of their trails.
const PAGES_MAX: usize = 4;
/// Links above which those without viewers are removed from the cache.
const LINKS_MAX: usize = 16;
/// Milliseconds for which a page of many devices is used although something was stored since.
const LARGE_PAGE_TTL_MS: i64 = 1_000;
/// Devices from which on a page counts as one of many.
const LARGE_PAGE_DEVICES: usize = 100;

/// The pages cached on a node.
pub struct ShareCache {
    links: Mutex<HashMap<String, Arc<Link>>>,
    builds: Arc<Semaphore>,
    built: AtomicU64,
}

#[derive(Default)]
struct Link {
    waiting: AtomicUsize,
    /// Locked by the viewer who builds the next page.
    pages: Arc<tokio::sync::Mutex<VecDeque<Cached>>>,
}

struct Cached {
    key: PageKey,
    page: SharePage,
}

/// What a page depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageKey {
    /// Start of the trails that are shown; none without trails.
    pub trail: Option<Timestamp>,
    /// Number of the last event of the account.
    pub end: i64,
    /// Time of the request.
    pub now: Timestamp,
}

impl PageKey {
    /// Whether a page with this key and so many devices may be shown for another key.
    fn serves(self, other: Self, devices: usize) -> bool {
        let age = other.now.as_millis() - self.now.as_millis();
        self.trail == other.trail
            && (0..LARGE_PAGE_TTL_MS).contains(&age)
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
}

impl Default for ShareCache {
    fn default() -> Self {
        Self {
            links: Mutex::default(),
            builds: Arc::new(Semaphore::new(BUILDS_MAX)),
            built: AtomicU64::new(0),
        }
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
    /// The page for this key: from the cache, or built now. It is built on another thread than those that serve
    /// connections, and to the end even if the viewer who started it disconnects.
    pub async fn get<E: Send + 'static>(
        &self,
        runtime: &tokio::runtime::Handle,
        secret: &str,
        key: PageKey,
        build: impl Future<Output = Result<SharePage, E>> + Send + 'static,
    ) -> Result<SharePage, PageError<E>> {
        let link = self.link(secret);
        if link.waiting.fetch_add(1, Ordering::Relaxed) >= WAITING_MAX {
            link.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(PageError::Busy);
        }
        let _waiting = Waiting(&link.waiting);
        let pages = Arc::clone(&link.pages).lock_owned().await;
        if let Some(known) = pages.iter().find(|cached| cached.key.serves(key, cached.page.devices)) {
            return Ok(known.page.clone());
        }
        self.built.fetch_add(1, Ordering::Relaxed);
        let builds = Arc::clone(&self.builds);
        let task = runtime.spawn(async move {
            let _permit = builds.acquire_owned().await;
            let page = build.await?;
            insert(pages, Cached { key, page: page.clone() });
            Ok(page)
        });
        task.await.map_err(PageError::Lost)?.map_err(PageError::Build)
    }

    /// Pages built since the start, however many viewers there were.
    pub fn built(&self) -> u64 {
        self.built.load(Ordering::Relaxed)
    }

    fn link(&self, secret: &str) -> Arc<Link> {
        let mut links = self.lock();
        if let Some(link) = links.get(secret) {
            return Arc::clone(link);
        }
        if links.len() >= LINKS_MAX {
            links.retain(|_, link| Arc::strong_count(link) > 1);
        }
        Arc::clone(links.entry(secret.to_owned()).or_default())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Link>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
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
mod tests {
    use futures_util::future::join_all;
    use tokio::runtime::Handle;

    use super::*;

    fn key(end: i64, now_ms: i64) -> PageKey {
        PageKey { trail: None, end, now: Timestamp::from_millis(now_ms) }
    }

    async fn look(pages: &ShareCache, key: PageKey, devices: usize, made: &Arc<AtomicU64>) -> String {
        let made = Arc::clone(made);
        let page = async move {
            tokio::task::yield_now().await;
            let number = made.fetch_add(1, Ordering::Relaxed);
            Ok::<_, ()>(SharePage { body: Bytes::from(number.to_string()), devices })
        };
        let page = pages.get(&Handle::current(), "secret", key, page).await.unwrap();
        String::from_utf8(page.body.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn many_viewers_get_one_answer() {
        let (pages, made) = (ShareCache::default(), Arc::new(AtomicU64::new(0)));
        let answers = join_all((0..200).map(|_| look(&pages, key(5, 0), 10_000, &made))).await;
        assert!(answers.iter().all(|answer| answer == "0"));
        assert_eq!(look(&pages, key(6, 999), 10_000, &made).await, "0", "of many devices up to a second old");
        assert_eq!(look(&pages, key(6, 1_000), 10_000, &made).await, "1");
    }

    #[tokio::test]
    async fn few_devices_are_shown_as_they_are() {
        let (pages, made) = (ShareCache::default(), Arc::new(AtomicU64::new(0)));
        assert_eq!(look(&pages, key(5, 0), 3, &made).await, "0");
        assert_eq!(look(&pages, key(5, 0), 3, &made).await, "0", "nothing happened");
        assert_eq!(look(&pages, key(6, 0), 3, &made).await, "1", "something was stored");
        let later = PageKey { trail: Some(Timestamp::from_millis(1)), ..key(6, 0) };
        assert_eq!(look(&pages, later, 3, &made).await, "2", "another trail");
    }

    #[tokio::test]
    async fn waiting_viewers_are_bounded() {
        let pages = ShareCache::default();
        let (make, runtime) = (std::future::pending::<Result<SharePage, ()>>, Handle::current());
        let mut waiting: Vec<_> =
            (0..WAITING_MAX).map(|_| Box::pin(pages.get(&runtime, "secret", key(1, 0), make()))).collect();
        for one in &mut waiting {
            assert!(futures_util::poll!(one.as_mut()).is_pending());
        }
        let refused = pages.get(&runtime, "secret", key(1, 0), make()).await;
        assert!(matches!(refused, Err(PageError::Busy)));
        drop(waiting);
        let links = pages.lock();
        assert_eq!(links["secret"].waiting.load(Ordering::Relaxed), 0, "the count goes back");
    }
}
