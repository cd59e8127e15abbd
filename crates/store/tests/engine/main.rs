//! What the engines promise to the SQL written on them, checked on SQLite and on a real PostgreSQL.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

#[cfg(unix)]
mod cluster;
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
