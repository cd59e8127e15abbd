//! A pool of connections, limited in number and kept for a short time.

use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::connection::Connection;

/// Messages sent on one connection; many servers close it after a hundred.
const MESSAGES_MAX: u32 = 50;

/// Idle connections and permits to open more.
pub(super) struct Pool {
    places: Semaphore,
    idle: Mutex<Vec<Idle>>,
    idle_time: Duration,
}

struct Idle {
    connection: Connection,
    since: Instant,
    carried: u32,
}

/// Permission to use one connection.
pub(super) struct ConnectionPermit<'p> {
    pool: &'p Pool,
    carried: u32,
    _permit: SemaphorePermit<'p>,
}

impl Pool {
    pub(super) fn new(connections: usize, idle_time: Duration) -> Self {
        Self { places: Semaphore::new(connections), idle: Mutex::new(Vec::new()), idle_time }
    }

    /// Waits for a permit, and returns the most recently used idle connection, if there is one.
    pub(super) async fn acquire(&self) -> (ConnectionPermit<'_>, Option<Connection>) {
        let permit = self.places.acquire().await.expect("the semaphore is never closed");
        let mut idle = self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = Instant::now();
        idle.retain(|kept| now.duration_since(kept.since) < self.idle_time);
        let (connection, carried) = match idle.pop() {
            Some(kept) => (Some(kept.connection), kept.carried),
            None => (None, 0),
        };
        (ConnectionPermit { pool: self, carried, _permit: permit }, connection)
    }
}

impl ConnectionPermit<'_> {
    /// Resets the message count, for a connection just opened.
    pub(super) fn opened(&mut self) {
        self.carried = 0;
    }

    /// Returns a connection to the pool. It must be ready for the next command.
    pub(super) fn keep(self, connection: Connection) {
        let carried = self.carried + 1;
        if carried < MESSAGES_MAX {
            let mut idle = self.pool.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            idle.push(Idle { connection, since: Instant::now(), carried });
        }
    }
}
