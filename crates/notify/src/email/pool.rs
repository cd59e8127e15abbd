//! Connections kept for the next message, few and not for long.

use std::sync::Mutex;
use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::connection::Connection;

/// Messages one connection carries; many servers close it at a hundred.
const MESSAGES_MAX: u32 = 50;

/// The connections there are.
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

/// The right to one connection.
pub(super) struct Place<'p> {
    pool: &'p Pool,
    carried: u32,
    _permit: SemaphorePermit<'p>,
}

impl Pool {
    pub(super) fn new(connections: usize, idle_time: Duration) -> Self {
        Self { places: Semaphore::new(connections), idle: Mutex::new(Vec::new()), idle_time }
    }

    /// Waits for a place, and gives the connection last used if one is still fresh.
    pub(super) async fn place(&self) -> (Place<'_>, Option<Connection>) {
        let permit = self.places.acquire().await.expect("the semaphore is never closed");
        let mut idle = self.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        let now = Instant::now();
        idle.retain(|kept| now.duration_since(kept.since) < self.idle_time);
        let (connection, carried) = match idle.pop() {
            Some(kept) => (Some(kept.connection), kept.carried),
            None => (None, 0),
        };
        (Place { pool: self, carried, _permit: permit }, connection)
    }
}

impl Place<'_> {
    /// Begins to count anew, for a connection just opened.
    pub(super) fn opened(&mut self) {
        self.carried = 0;
    }

    /// Keeps a connection that is in step for the next message.
    pub(super) fn keep(self, connection: Connection) {
        let carried = self.carried + 1;
        if carried < MESSAGES_MAX {
            let mut idle = self.pool.idle.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
            idle.push(Idle { connection, since: Instant::now(), carried });
        }
    }
}
