//! What share links show: one answer is made at a time for each link, and everybody who looks meanwhile gets the same.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use perigee_core::time::Timestamp;
use tokio::sync::{OwnedMutexGuard, Semaphore};

use crate::http::error::{ApiResult, internal};

/// Answers made at once, for all links together: the others of the server's cores stay free.
const MADE_AT_ONCE: usize = 2;
/// Viewers of one link that wait for their answer at once.
const MOST_WAITING: usize = 256;
/// Answers kept of a link, for different trails.
const KEPT: usize = 4;
/// Links of which answers are kept.
const LINKS: usize = 16;
/// How long an answer of many devices serves, in milliseconds of the clock, although something was stored since.
const SERVES_MS: i64 = 1_000;
/// Devices from which on an answer is one of many.
const MANY: usize = 100;

/// The answers of a node.
pub struct SharePages {
    links: Mutex<HashMap<String, Arc<Link>>>,
    making: Arc<Semaphore>,
    made: AtomicU64,
}

#[derive(Default)]
struct Link {
    waiting: AtomicUsize,
    /// Whoever holds it makes the next answer.
    made: Arc<tokio::sync::Mutex<VecDeque<Made>>>,
}

struct Made {
    asked: Asked,
    answer: Page,
}

/// What an answer depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Asked {
    /// From when on trails are shown.
    pub trail: Option<Timestamp>,
    /// Where the account's log ended.
    pub end: i64,
    /// The present.
    pub now: Timestamp,
}

impl Asked {
    /// Whether an answer to this serves for another question too.
    fn serves(self, other: Self, devices: usize) -> bool {
        let age = other.now.as_millis() - self.now.as_millis();
        self.trail == other.trail
            && (0..SERVES_MS).contains(&age)
            && (devices >= MANY || (self.end == other.end && age == 0))
    }
}

/// An answer, encoded.
#[derive(Clone, Debug)]
pub struct Page {
    /// Its bytes.
    pub body: Bytes,
    /// How many devices it shows.
    pub devices: usize,
}

/// Too many wait for one link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Busy;

impl Default for SharePages {
    fn default() -> Self {
        Self {
            links: Mutex::default(),
            making: Arc::new(Semaphore::new(MADE_AT_ONCE)),
            made: AtomicU64::new(0),
        }
    }
}

/// Somebody who waits, until it is dropped.
struct Waits<'a>(&'a AtomicUsize);

impl Drop for Waits<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

impl SharePages {
    /// The answer to this, as another viewer just got it or as made now. It is made on another thread than those that
    /// serve connections, and goes on when the viewer who began it leaves.
    pub async fn get(
        &self,
        runtime: &tokio::runtime::Handle,
        secret: &str,
        asked: Asked,
        build: impl Future<Output = ApiResult<Page>> + Send + 'static,
    ) -> Result<ApiResult<Page>, Busy> {
        let link = self.link(secret);
        if link.waiting.fetch_add(1, Ordering::Relaxed) >= MOST_WAITING {
            link.waiting.fetch_sub(1, Ordering::Relaxed);
            return Err(Busy);
        }
        let _waits = Waits(&link.waiting);
        let made = Arc::clone(&link.made).lock_owned().await;
        if let Some(known) = made.iter().find(|known| known.asked.serves(asked, known.answer.devices)) {
            return Ok(Ok(known.answer.clone()));
        }
        self.made.fetch_add(1, Ordering::Relaxed);
        let making = Arc::clone(&self.making);
        let task = runtime.spawn(async move {
            let _turn = making.acquire_owned().await;
            let answer = build.await?;
            keep(made, Made { asked, answer: answer.clone() });
            Ok(answer)
        });
        Ok(task.await.unwrap_or_else(|error| Err(internal(error))))
    }

    /// How many answers were made, however many asked.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    fn link(&self, secret: &str) -> Arc<Link> {
        let mut links = self.lock();
        if let Some(link) = links.get(secret) {
            return Arc::clone(link);
        }
        if links.len() >= LINKS {
            links.retain(|_, link| Arc::strong_count(link) > 1);
        }
        Arc::clone(links.entry(secret.to_owned()).or_default())
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Link>>> {
        self.links.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn keep(mut made: OwnedMutexGuard<VecDeque<Made>>, new: Made) {
    made.retain(|known| known.asked.trail != new.asked.trail);
    if made.len() >= KEPT {
        made.pop_front();
    }
    made.push_back(new);
}

#[cfg(test)]
mod tests {
    use futures_util::future::join_all;
    use tokio::runtime::Handle;

    use super::*;

    fn asked(end: i64, now_ms: i64) -> Asked {
        Asked { trail: None, end, now: Timestamp::from_millis(now_ms) }
    }

    async fn look(pages: &SharePages, asked: Asked, devices: usize, made: &Arc<AtomicU64>) -> String {
        let made = Arc::clone(made);
        let page = async move {
            tokio::task::yield_now().await;
            let number = made.fetch_add(1, Ordering::Relaxed);
            Ok(Page { body: Bytes::from(number.to_string()), devices })
        };
        let page = pages.get(&Handle::current(), "secret", asked, page).await.unwrap().unwrap();
        String::from_utf8(page.body.to_vec()).unwrap()
    }

    #[tokio::test]
    async fn many_viewers_get_one_answer() {
        let (pages, made) = (SharePages::default(), Arc::new(AtomicU64::new(0)));
        let answers = join_all((0..200).map(|_| look(&pages, asked(5, 0), 10_000, &made))).await;
        assert!(answers.iter().all(|answer| answer == "0"));
        assert_eq!(
            look(&pages, asked(6, 999), 10_000, &made).await,
            "0",
            "of many devices up to a second old"
        );
        assert_eq!(look(&pages, asked(6, 1_000), 10_000, &made).await, "1");
    }

    #[tokio::test]
    async fn few_devices_are_shown_as_they_are() {
        let (pages, made) = (SharePages::default(), Arc::new(AtomicU64::new(0)));
        assert_eq!(look(&pages, asked(5, 0), 3, &made).await, "0");
        assert_eq!(look(&pages, asked(5, 0), 3, &made).await, "0", "nothing happened");
        assert_eq!(look(&pages, asked(6, 0), 3, &made).await, "1", "something was stored");
        let later = Asked { trail: Some(Timestamp::from_millis(1)), ..asked(6, 0) };
        assert_eq!(look(&pages, later, 3, &made).await, "2", "another trail");
    }

    #[tokio::test]
    async fn waiting_viewers_are_bounded() {
        let pages = SharePages::default();
        let (make, runtime) = (std::future::pending::<ApiResult<Page>>, Handle::current());
        let mut waiting: Vec<_> =
            (0..MOST_WAITING).map(|_| Box::pin(pages.get(&runtime, "secret", asked(1, 0), make()))).collect();
        for one in &mut waiting {
            assert!(futures_util::poll!(one.as_mut()).is_pending());
        }
        let refused = pages.get(&runtime, "secret", asked(1, 0), make()).await;
        assert_eq!(refused.unwrap_err(), Busy);
        drop(waiting);
        let links = pages.lock();
        assert_eq!(links["secret"].waiting.load(Ordering::Relaxed), 0, "places come free");
    }
}
