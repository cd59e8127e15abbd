//! Backups of SQLite stores: copied while the store is in use, verified, and restored.

mod abandoned_copy;
mod copy;
mod restore;

pub use copy::{BackedUp, BackupError, DamagedRows, back_up};
pub use restore::{Restored, restore};
