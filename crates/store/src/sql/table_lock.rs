//! Locks a whole table, for the few decisions that depend on it being empty.

use perigee_core::store::Result;

use crate::database::Engine;
use crate::tx::Tx;

/// A table that can be locked.
#[derive(Clone, Copy)]
pub(crate) enum Table {
    /// The table of accounts.
    Account,
    /// The table of signing keys.
    SigningKey,
    /// The table of keys that sign messages to push services.
    PushKey,
}

/// Locks the table against writes of other jobs until the end of the transaction.
pub(crate) async fn lock(tx: &Tx, table: Table) -> Result<()> {
    // On SQLite every write job has the database to itself.
    if tx.engine() == Engine::Postgres {
        let sql = match table {
            Table::Account => "LOCK TABLE account IN SHARE ROW EXCLUSIVE MODE",
            Table::SigningKey => "LOCK TABLE signing_key IN SHARE ROW EXCLUSIVE MODE",
            Table::PushKey => "LOCK TABLE push_key IN SHARE ROW EXCLUSIVE MODE",
        };
        tx.execute(sql, &[]).await?;
    }
    Ok(())
}
