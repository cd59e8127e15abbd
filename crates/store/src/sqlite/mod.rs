//! The SQLite engine: one writer thread that commits jobs in groups, a pool of readers, a checkpoint thread.

mod checkpoint;
mod connection;
mod device_writes;
mod engine;
mod error;
mod file;
mod function;
pub(crate) mod locations;
mod lock_owner;
mod low_priority;
pub(crate) mod migrate;
mod reader;
mod session;
mod writer;

pub(crate) use connection::{open_reader, open_writer};
pub(crate) use engine::Sqlite;
pub(crate) use file::{Against, Ownership, prepare};
pub(crate) use locations::LocationMemory;
pub(crate) use session::Session;
