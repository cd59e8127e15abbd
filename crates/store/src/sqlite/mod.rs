//! SQLite: one writer thread that commits jobs in groups, a pool of readers, checkpoints on the side.

mod aside;
mod backup;
mod checkpoint;
mod connection;
mod engine;
mod error;
mod file;
mod function;
mod holder;
pub(crate) mod locations;
mod migrate;
mod reader;
mod restore;
mod session;
mod writer;

pub use backup::{BackupError, back_up};
pub use restore::{Restored, restore};

pub(crate) use engine::Sqlite;
pub(crate) use locations::Live;
pub(crate) use session::Session;
