//! A fair queue: a few pieces of work run at the same time, a bounded number waits, and clients take turns.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::oneshot;
use tokio::time::Instant;

use super::exhausted::{Bound, Exhausted, RunError};
use super::metrics::record_wait;
use super::payer::{Key, Payer};

/// Work that needs no more bytes than this does not wait for memory, only for a slot.
const SMALL: usize = 1024 * 1024;
/// Work that needs more bytes than this gets a thread of its own, which ends with the work. The allocator keeps freed
/// memory for the thread that freed it; threads of a pool would each keep as much as their largest work ever needed.
const LARGE: usize = 4 * 1024 * 1024;

/// The bounds of a queue.
#[derive(Clone, Copy, Debug)]
pub struct QueueLimits {
    /// Pieces of work that run at the same time.
    pub running: usize,
    /// The same for one account, or for one address without an account.
    pub running_each: usize,
    /// Bytes that all running work may need together.
    pub memory: usize,
    /// Pieces of work that may wait.
    pub waiting: usize,
    /// The same for one account, or for one address without an account.
    pub waiting_each: usize,
    /// Bounds of clients without an account. If set, all accounts are served before these clients; if `None`, all take
    /// turns.
    pub strangers: Option<StrangerLimits>,
}

/// The bounds of clients without an account.
#[derive(Clone, Copy, Debug)]
pub struct StrangerLimits {
    /// Pieces of their work that run at the same time.
    pub running: usize,
    /// Addresses or networks that may wait. They take turns, so that this bounds how long one of them waits.
    pub lanes: usize,
}

/// A queue that serves accounts and addresses in turn: a client that sends much waits behind its own work only.
#[derive(Debug)]
pub struct Queue {
    name: &'static str,
    limits: QueueLimits,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    running: usize,
    running_by: HashMap<Key, usize>,
    strangers_running: usize,
    memory: usize,
    waiting: usize,
    next_id: u64,
    lanes: HashMap<Key, VecDeque<Waiter>>,
    /// Lanes that are not empty, each once; the front is next.
    turns: VecDeque<Key>,
}

#[derive(Debug)]
struct Waiter {
    id: u64,
    memory: usize,
    ready: oneshot::Sender<Slot>,
}

/// Permits one piece of work, until it is dropped.
#[derive(Debug)]
pub struct Slot {
    queue: Arc<Queue>,
    key: Key,
    memory: usize,
}

impl Queue {
    /// An empty queue; the name labels its metrics.
    pub fn new(name: &'static str, limits: QueueLimits) -> Arc<Self> {
        Arc::new(Self { name, limits, state: Mutex::default() })
    }

    /// Takes a free slot for work that needs this many bytes; none if it would have to wait.
    pub fn try_acquire(self: &Arc<Self>, payer: Payer, memory: usize) -> Option<Slot> {
        let mut state = self.state.lock();
        let (key, memory) = (payer.lane(), memory.min(self.limits.memory));
        // Work does not overtake its own lane, nor work that waits for memory.
        let is_next = !state.lanes.contains_key(&key) && (state.waiting == 0 || memory <= SMALL);
        (is_next && self.fits(&state, key, memory)).then(|| self.start(&mut state, key, memory))
    }

    /// Waits for a slot for work that needs this many bytes. Refused at once when too many wait.
    pub async fn acquire(self: &Arc<Self>, payer: Payer, memory: usize) -> Result<Slot, Exhausted> {
        if let Some(slot) = self.try_acquire(payer, memory) {
            record_wait(self.name, Duration::ZERO);
            return Ok(slot);
        }
        self.wait(payer, memory, true).await
    }

    /// The same for the next part of work that was admitted before: it waits for its turn and is not refused.
    pub async fn acquire_next(self: &Arc<Self>, payer: Payer, memory: usize) -> Result<Slot, Exhausted> {
        match self.try_acquire(payer, memory) {
            Some(slot) => Ok(slot),
            None => self.wait(payer, memory, false).await,
        }
    }

    /// Runs work that needs this many bytes of memory off the threads that serve connections, when it is the payer's
    /// turn. The work runs to its end, and holds its slot, even if the caller is cancelled.
    pub async fn run<T: Send + 'static>(
        self: &Arc<Self>,
        payer: Payer,
        memory: usize,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, RunError> {
        let slot = self.acquire(payer, memory).await?;
        let is_large = slot.memory > LARGE;
        let work = move || {
            let result = work();
            drop(slot);
            result
        };
        if is_large { run_on_new_thread(work).await } else { Ok(tokio::task::spawn_blocking(work).await?) }
    }

    /// Pieces of work that run, and that wait.
    pub fn load(&self) -> (usize, usize) {
        let state = self.state.lock();
        (state.running, state.waiting)
    }

    pub(super) const fn name(&self) -> &'static str {
        self.name
    }

    async fn wait(
        self: &Arc<Self>,
        payer: Payer,
        memory: usize,
        is_bounded: bool,
    ) -> Result<Slot, Exhausted> {
        let begun = Instant::now();
        let (mut waiting, ready) = self.join(payer.lane(), memory.min(self.limits.memory), is_bounded)?;
        let slot = ready.await.map_err(|_closed| Exhausted::counted(self.name, Bound::Total))?;
        waiting.served = true;
        record_wait(self.name, begun.elapsed());
        Ok(slot)
    }

    fn join(
        self: &Arc<Self>,
        key: Key,
        memory: usize,
        is_bounded: bool,
    ) -> Result<(Waiting<'_>, oneshot::Receiver<Slot>), Exhausted> {
        let (ready, receiver) = oneshot::channel();
        let id = {
            let mut state = self.state.lock();
            if let Some(bound) = self.reached_bound(&state, key).filter(|_| is_bounded) {
                return Err(Exhausted::counted(self.name, bound));
            }
            let id = state.next_id;
            state.next_id += 1;
            state.waiting += 1;
            let lane = state.lanes.entry(key).or_default();
            lane.push_back(Waiter { id, memory, ready });
            if lane.len() == 1 {
                state.turns.push_back(key);
            }
            id
        };
        // A slot may have become free since the first look.
        self.serve();
        Ok((Waiting { queue: self, key, id, served: false }, receiver))
    }

    /// The bound on waiters that one more of this client would exceed.
    fn reached_bound(&self, state: &State, key: Key) -> Option<Bound> {
        if state.waiting >= self.limits.waiting {
            return Some(Bound::Total);
        }
        let own = state.lanes.get(&key).map_or(0, VecDeque::len);
        if let Some(strangers) = self.limits.strangers.filter(|_| own == 0 && key.is_stranger())
            && state.turns.iter().filter(|waiting| waiting.is_stranger()).count() >= strangers.lanes
        {
            return Some(Bound::Total);
        }
        let bound = if matches!(key, Key::Account(_)) { Bound::Account } else { Bound::Address };
        (own >= self.limits.waiting_each).then_some(bound)
    }

    fn fits(&self, state: &State, key: Key, memory: usize) -> bool {
        state.running < self.limits.running
            && !self.is_at_bound(state, key)
            && (memory <= SMALL || state.memory + memory <= self.limits.memory)
    }

    fn is_at_bound(&self, state: &State, key: Key) -> bool {
        let strangers = self.limits.strangers.filter(|_| key.is_stranger());
        if strangers.is_some_and(|strangers| state.strangers_running >= strangers.running) {
            return true;
        }
        state.running_by.get(&key).is_some_and(|running| *running >= self.limits.running_each)
    }

    fn start(self: &Arc<Self>, state: &mut State, key: Key, memory: usize) -> Slot {
        let memory = if memory <= SMALL { 0 } else { memory };
        state.running += 1;
        state.strangers_running += usize::from(key.is_stranger());
        *state.running_by.entry(key).or_default() += 1;
        state.memory += memory;
        Slot { queue: Arc::clone(self), key, memory }
    }

    /// Gives free slots to the next waiters.
    fn serve(self: &Arc<Self>) {
        loop {
            let mut state = self.state.lock();
            let Some((key, waiter)) = self.next(&mut state) else { return };
            let slot = self.start(&mut state, key, waiter.memory);
            drop(state);
            // A cancelled waiter returns the slot by dropping it here.
            let _dropped = waiter.ready.send(slot);
        }
    }

    /// The next waiter. One that needs more memory than is free is overtaken only by small work; a client at its
    /// limit is skipped.
    fn next(&self, state: &mut State) -> Option<(Key, Waiter)> {
        let mut overtaken = false;
        let prefers = self.limits.strangers.is_some();
        let is_later = |turn: &usize| prefers && state.turns.get(*turn).is_some_and(|key| key.is_stranger());
        let all = 0..state.turns.len();
        let (first, later) = (all.clone().filter(|turn| !is_later(turn)), all.filter(is_later));
        let turn = first.chain(later).find(|turn| {
            let Some(key) = state.turns.get(*turn).filter(|key| !self.is_at_bound(state, **key)) else {
                return false;
            };
            state.lanes.get(key).and_then(VecDeque::front).is_some_and(|waiter| {
                let is_next = self.fits(state, *key, waiter.memory) && (!overtaken || waiter.memory <= SMALL);
                overtaken |= !is_next;
                is_next
            })
        })?;
        let key = state.turns.remove(turn)?;
        let lane = state.lanes.get_mut(&key)?;
        let waiter = lane.pop_front()?;
        if lane.is_empty() {
            state.lanes.remove(&key);
        } else {
            state.turns.push_back(key);
        }
        state.waiting -= 1;
        Some((key, waiter))
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        {
            let mut state = self.queue.state.lock();
            state.running -= 1;
            state.strangers_running -= usize::from(self.key.is_stranger());
            state.memory -= self.memory;
            if let Some(running) = state.running_by.get_mut(&self.key) {
                *running -= 1;
                if *running == 0 {
                    state.running_by.remove(&self.key);
                }
            }
        }
        self.queue.serve();
    }
}

/// Runs work on a thread that is started for it.
async fn run_on_new_thread<T: Send + 'static>(
    work: impl FnOnce() -> T + Send + 'static,
) -> Result<T, RunError> {
    let (sender, done) = oneshot::channel();
    std::thread::Builder::new()
        .name("large-work".to_owned())
        .spawn(move || {
            // An error means that the request was cancelled.
            let _dropped = sender.send(work());
        })
        .map_err(RunError::NoThread)?;
    Ok(done.await?)
}

/// A waiter, removed from the queue when it is dropped.
struct Waiting<'q> {
    queue: &'q Arc<Queue>,
    key: Key,
    id: u64,
    served: bool,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.served {
            return;
        }
        let mut state = self.queue.state.lock();
        let Some(lane) = state.lanes.get_mut(&self.key) else { return };
        let before = lane.len();
        lane.retain(|waiter| waiter.id != self.id);
        let (left, empty) = (before - lane.len(), lane.is_empty());
        state.waiting -= left;
        if empty {
            state.lanes.remove(&self.key);
            state.turns.retain(|key| *key != self.key);
        }
        drop(state);
        // Others may have waited behind it for memory.
        self.queue.serve();
    }
}

#[cfg(test)]
mod tests;
