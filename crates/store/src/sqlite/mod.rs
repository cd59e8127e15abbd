//! The SQLite engine: one writer thread that commits jobs in groups, a pool of readers, a checkpoint thread.

mod abandoned_copy;
mod backup;
mod checkpoint;
mod connection;
mod engine;
mod error;
mod file;
mod function;
pub(crate) mod locations;
mod lock_owner;
mod low_priority;
mod migrate;
mod reader;
mod restore;
mod session;
mod writer;

pub use backup::{BackedUp, BackupError, DamagedRows, back_up};
pub use restore::{Restored, restore};

pub(crate) use connection::open_reader;
pub(crate) use engine::Sqlite;
pub(crate) use locations::LocationMemory;
pub(crate) use session::Session;
