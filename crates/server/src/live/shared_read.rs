//! Shares reads: concurrent callers with the same key wait for one read and get one answer.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};

use parking_lot::Mutex;
use tokio::sync::{OnceCell, Semaphore};

/// Reads that run at the same time. The others wait, so that connections of the store stay free for other requests.
const AT_ONCE: usize = 4;
/// Answers kept for callers that arrive a moment later.
const KEPT: usize = 4;
/// Entries above which those without a caller are removed.
const SWEEP_ABOVE: usize = 256;

type Cell<V> = OnceCell<Arc<V>>;

/// The running reads, and the last answers.
pub struct SharedReads<K, V> {
    state: Mutex<State<K, V>>,
    turns: Semaphore,
    made: AtomicU64,
}

struct State<K, V> {
    cells: HashMap<K, Weak<Cell<V>>>,
    kept: VecDeque<Arc<Cell<V>>>,
}

impl<K, V> Default for SharedReads<K, V> {
    fn default() -> Self {
        let state = State { cells: HashMap::new(), kept: VecDeque::new() };
        Self { state: Mutex::new(state), turns: Semaphore::new(AT_ONCE), made: AtomicU64::new(0) }
    }
}

impl<K: Eq + Hash, V> SharedReads<K, V> {
    /// The answer for this key, from a read that is running or just ended, or from `read`. Errors are not shared.
    pub async fn get<E>(&self, key: K, read: impl Future<Output = Result<V, E>>) -> Result<Arc<V>, E> {
        let cell = self.cell(key);
        let answer = cell
            .get_or_try_init(|| async {
                let _turn = self.turns.acquire().await;
                self.made.fetch_add(1, Ordering::Relaxed);
                read.await.map(Arc::new)
            })
            .await;
        answer.cloned()
    }

    /// Reads made since the start, however many callers there were.
    pub fn made(&self) -> u64 {
        self.made.load(Ordering::Relaxed)
    }

    fn cell(&self, key: K) -> Arc<Cell<V>> {
        let mut state = self.state.lock();
        if let Some(cell) = state.cells.get(&key).and_then(Weak::upgrade) {
            return cell;
        }
        if state.cells.len() >= SWEEP_ABOVE {
            state.cells.retain(|_, cell| cell.strong_count() > 0);
        }
        let cell = Arc::new(Cell::new());
        state.cells.insert(key, Arc::downgrade(&cell));
        if state.kept.len() >= KEPT {
            state.kept.pop_front();
        }
        state.kept.push_back(Arc::clone(&cell));
        cell
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use futures_util::future::join_all;

    use super::*;

    #[tokio::test]
    async fn the_same_is_read_once_for_all() {
        let (shared, reads) = (SharedReads::<u8, u8>::default(), AtomicUsize::new(0));
        let read = |key: u8| {
            let reads = &reads;
            shared.get(key, async move {
                tokio::task::yield_now().await;
                reads.fetch_add(1, Ordering::Relaxed);
                Ok::<_, ()>(key * 2)
            })
        };
        let answers = join_all((0..1_000).map(|number: u32| read(u8::from(number.is_multiple_of(2))))).await;
        assert_eq!(reads.load(Ordering::Relaxed), 2);
        assert_eq!(answers.iter().filter(|answer| answer.as_deref() == Ok(&2)).count(), 500);
        assert_eq!(read(0).await.as_deref(), Ok(&0));
        assert_eq!(reads.load(Ordering::Relaxed), 2, "kept for a moment");
    }

    #[tokio::test]
    async fn a_failed_read_is_repeated_and_memory_is_bounded() {
        let shared = SharedReads::<u32, u32>::default();
        assert_eq!(shared.get(1, async { Err("no") }).await, Err("no"));
        assert_eq!(shared.get(1, async { Ok::<_, &str>(7) }).await.as_deref(), Ok(&7));
        for key in 0..10_000 {
            assert_eq!(shared.get(key, async { Ok::<_, &str>(7) }).await.as_deref(), Ok(&7));
        }
        let state = shared.state.lock();
        assert!(state.cells.len() <= SWEEP_ABOVE && state.kept.len() <= KEPT, "{}", state.cells.len());
    }
}
