//! Mends a store: what cannot be read is set aside, what follows from other rows is made anew, and what can be read
//! but does not match its checksum is kept as it reads and told.

use futures_util::FutureExt as _;
use perigee_core::store::Result;
use perigee_core::time::Timestamp;
use serde::Serialize;

use super::fill::fill_checksums;
use super::repair_row::repair_row;
use super::report::{Progress, Report};
use super::run::verify;
use crate::damage::{Damaged, Table};
use crate::database::{Database, Engine};
use crate::sql::locations::alone;
use crate::sql::quarantine;
use crate::tx::Tx;

/// What mending a store did.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Repaired {
    /// What was damaged, as it is kept in the table `quarantine`.
    pub set_aside: Vec<Damaged>,
    /// How the store is now.
    pub after: Report,
}

/// Mends the store. On SQLite it must have been opened as a server opens it, so that no server runs; `since` is an
/// instant before that, since opening sets rows of the log aside by itself.
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
        let _alone = alone(database).await;
        database.write(move |tx| async move { repair_row(tx, damaged).await }.boxed()).await?;
    }
    fill_checksums(database).await?;
    let set_aside = database.read(move |tx| quarantine::list(tx, since).boxed()).await?;
    Ok(Repaired { set_aside, after: verify(database, progress).await? })
}

/// Makes every index anew, which mends those that do not match their table.
async fn reindex(tx: &Tx) -> Result<()> {
    tx.execute("REINDEX", &[]).await?;
    Ok(())
}
