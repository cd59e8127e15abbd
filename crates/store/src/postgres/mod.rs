//! The PostgreSQL engine: a pool of checked connections, one transaction per write job.

mod bind;
mod check;
mod connection;
mod engine;
mod error;
pub(crate) mod locations;
mod migrate;
mod pool;
mod session;
mod tls;

pub use check::UNSAFE_COMMITS;
pub(crate) use engine::Postgres;
pub(crate) use session::{Param, Session};
