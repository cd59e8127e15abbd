//! The PostgreSQL engine: a pool of checked connections, one transaction per write job.

pub(crate) mod account_lock;
mod bind;
mod check;
mod connection;
mod distribute;
mod engine;
mod error;
pub(crate) mod locations;
mod migrate;
mod pool;
mod replica;
mod session;
mod tls;

pub use check::UNSAFE_COMMITS;
pub use distribute::{Distributed, LOCAL_TABLES, REFERENCE_TABLES};
pub(crate) use engine::Postgres;
pub(crate) use session::{Param, Session};
