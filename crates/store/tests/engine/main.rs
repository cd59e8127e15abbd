//! Guarantees of the engines that the SQL relies on, checked on SQLite and on a real PostgreSQL.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod channel_rows;
#[cfg(unix)]
mod cluster;
#[cfg(unix)]
mod cluster_faults;
mod commit;
mod difference;
#[cfg(unix)]
mod distribute;
#[cfg(unix)]
mod failover;
mod lock;
mod open;
mod postgres;
mod read;
#[cfg(unix)]
mod replica;
mod schema;
mod shards;
mod support;
