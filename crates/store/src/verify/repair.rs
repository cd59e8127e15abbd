//! Repairing a store: unreadable rows move into quarantine, derived rows are recomputed, and rows that are readable but
//! do not match their checksum are kept as they are and reported.

use futures_util::FutureExt as _;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use serde::Serialize;

use super::repair_row::repair_row;
use super::report::{Progress, Report};
use super::run::verify;
use crate::damage::{Damaged, Table};
use crate::database::{Database, Engine};
use crate::sql::fill_checksums::fill_checksums;
use crate::sql::locations::exclude_changes;
use crate::sql::quarantine;
use crate::tx::Tx;

/// The result of a repair.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Repaired {
    /// The damaged rows, of which the table `quarantine` keeps a copy.
    pub set_aside: Vec<Damaged>,
    /// The state of the store after the repair.
    pub after: Report,
}

/// Repairs the store. On SQLite it must be opened with [`crate::Role::Serve`], so that no server runs. `since` is a
/// time before the store was opened, because opening already quarantines damaged rows of the log.
pub async fn repair(
    database: &Database,
    since: Timestamp,
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Repaired> {
    let before = verify(database, progress).await?;
    let is_database_damaged = before.damaged.iter().any(|damaged| damaged.table == Table::Other);
    if is_database_damaged && database.engine() == Engine::Sqlite {
        database.write(|tx| reindex(tx).boxed()).await?;
    }
    for damaged in before.damaged.into_iter().filter(|damaged| damaged.table != Table::Other) {
        let _guard = exclude_changes(database).await;
        database.write(move |tx| async move { repair_row(tx, damaged).await }.boxed()).await?;
    }
    fill_checksums(database).await?;
    let set_aside = database.read(move |tx| quarantine::list(tx, since).boxed()).await?;
    Ok(Repaired { set_aside, after: verify(database, progress).await? })
}

/// Rebuilds every index, which repairs those that do not match their table.
async fn reindex(tx: &Tx) -> Result<()> {
    tx.execute("REINDEX", &[]).await?;
    Ok(())
}
