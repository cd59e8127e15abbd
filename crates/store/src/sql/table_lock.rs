//! Holding a whole table, for the few decisions that turn on it being empty.

use perigee_core::store::Result;

use crate::database::Engine;
use crate::tx::Tx;

/// A table that can be held.
#[derive(Clone, Copy)]
pub(crate) enum Table {
    /// The accounts.
    Account,
    /// The keys that sign tokens.
    SigningKey,
}

/// Waits until no other job writes to the table, and keeps others from it until the end of the transaction.
pub(crate) async fn hold(tx: &Tx, table: Table) -> Result<()> {
    // On SQLite every job that writes has the database to itself.
    if tx.engine() == Engine::Postgres {
        let sql = match table {
            Table::Account => "LOCK TABLE account IN SHARE ROW EXCLUSIVE MODE",
            Table::SigningKey => "LOCK TABLE signing_key IN SHARE ROW EXCLUSIVE MODE",
        };
        tx.execute(sql, &[]).await?;
    }
    Ok(())
}
