//! Perigee's stores: one `Database` over SQLite or PostgreSQL, and the only SQL of the project.
//!
//! # Writing SQL for both engines
//! Domain SQL is a plain `async fn(tx: &Tx, ...) -> Result<_, StoreError>`, written once. These rules make both engines
//! behave alike:
//!
//! - Placeholders are `?1`, `?2`; each number up to the highest is used, in any order and any number of times.
//! - A failed statement fails its transaction: nothing more runs in it and it cannot be committed. Expected conflicts
//!   use `ON CONFLICT DO NOTHING`, or become an error with [`DbError::violates`].
//! - `LIKE` is case-sensitive; write `ESCAPE '\'`, for which SQLite has no default.
//! - `NULL` sorts first on SQLite and last on PostgreSQL: write `NULLS FIRST` or `NULLS LAST` where a sort column can
//!   be null.
//! - Text columns are `COLLATE "C"` on PostgreSQL, so that order and ranges are by bytes.
//! - `SUM` of integers is `NUMERIC` on PostgreSQL: write `CAST(SUM(x) AS BIGINT)`.
//! - Statements are cached by their text for the life of a connection: values are bound, never written into the text.
//! - A job awaits only its own [`Tx`]; on SQLite anything else is an error.
//! - No deferred constraints: they fail at the commit, which several jobs share.

mod backup;
mod batch_statement;
pub mod codec;
mod damage;
mod database;
#[cfg(feature = "unsafe-early-ack")]
mod early_ack;
#[cfg(feature = "unsafe-early-timelines")]
mod early_timelines;
mod error;
mod forward;
mod job;
#[cfg(feature = "unsafe-late-alerts")]
mod late_alerts;
#[cfg(feature = "unsafe-late-limit")]
mod late_limit;
mod migration;
mod placeholder;
mod postgres;
#[cfg(feature = "unsafe-resend")]
mod resend;
mod row;
mod sql;
mod sqlite;
mod stats;
#[cfg(feature = "testing")]
pub mod testing;
mod tx;
mod url;
mod value;
mod verify;

pub use backup::{BackedUp, BackupError, DamagedRows, Restored, back_up, restore};
pub use damage::{Damaged, Table};
pub use database::{Database, Engine, OpenOptions, Role};
#[cfg(feature = "unsafe-early-ack")]
pub use early_ack::acknowledge_before_commit;
#[cfg(feature = "unsafe-early-timelines")]
pub use early_timelines::mark_derived_early;
pub use error::{DbError, OpenError};
#[cfg(feature = "unsafe-late-alerts")]
pub use late_alerts::store_alerts_late;
#[cfg(feature = "unsafe-late-limit")]
pub use late_limit::count_after_sending;
pub use migration::{Migration, MigrationError};
pub use postgres::{Distributed, LOCAL_TABLES, REFERENCE_TABLES, UNSAFE_COMMITS};
#[cfg(feature = "unsafe-resend")]
pub use resend::resend_interrupted;
pub use row::{Column, Row};
pub use stats::Stats;
pub use tx::Tx;
pub use url::{DatabaseUrl, ParseUrlError};
pub use value::Value;
pub use verify::{Progress, Repaired, Report, repair, verify};
