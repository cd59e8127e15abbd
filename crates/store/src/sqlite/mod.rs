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
mod leftover;
pub(crate) mod locations;
mod migrate;
mod reader;
mod restore;
mod session;
mod writer;

pub use backup::{BackedUp, BackupError, DamagedRows, back_up};
pub use restore::{Restored, restore};

pub(crate) use connection::open_reader;
pub(crate) use engine::Sqlite;
pub(crate) use locations::Live;
pub(crate) use session::Session;
