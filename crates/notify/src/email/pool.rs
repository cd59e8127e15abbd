//! A pool of connections, limited in number and kept for a short time.

use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{Semaphore, SemaphorePermit};
use tokio::time::Instant;

use super::connection::Connection;

/// Maximum number of messages sent on one connection; many servers close it after a hundred.
const MESSAGES_MAX: u32 = 50;

/// Idle connections and permits to open more.
pub(super) struct Pool {
    permits: Semaphore,
    idle: Mutex<Vec<Idle>>,
    idle_time: Duration,
}

struct Idle {
    connection: Connection,
    since: Instant,
    /// Number of messages sent on the connection.
    messages: u32,
}

/// Permission to use one connection.
pub(super) struct ConnectionPermit<'p> {
    pool: &'p Pool,
    messages: u32,
    _permit: SemaphorePermit<'p>,
}

impl Pool {
    pub(super) fn new(connections: usize, idle_time: Duration) -> Self {
        Self { permits: Semaphore::new(connections), idle: Mutex::new(Vec::new()), idle_time }
    }

    /// Waits for a permit, and returns the most recently used idle connection, if there is one.
    pub(super) async fn acquire(&self) -> (ConnectionPermit<'_>, Option<Connection>) {
        let permit = self.permits.acquire().await.expect("the semaphore is never closed");
        let mut idle = self.idle.lock();
        let now = Instant::now();
        idle.retain(|kept| now.duration_since(kept.since) < self.idle_time);
        let (connection, messages) = match idle.pop() {
            Some(kept) => (Some(kept.connection), kept.messages),
            None => (None, 0),
        };
        (ConnectionPermit { pool: self, messages, _permit: permit }, connection)
    }
}

impl ConnectionPermit<'_> {
    /// Resets the message count, for a connection just opened.
    pub(super) fn opened(&mut self) {
        self.messages = 0;
    }

    /// Returns a connection to the pool. It must be ready for the next command.
    pub(super) fn keep(self, connection: Connection) {
        let messages = self.messages + 1;
        if messages < MESSAGES_MAX {
            let mut idle = self.pool.idle.lock();
            idle.push(Idle { connection, since: Instant::now(), messages });
        }
    }
}
