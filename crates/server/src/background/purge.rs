//! Deletes the data of accounts whose grace period has ended.

use crate::app::App;

/// Purges every account that is due. After a failure the next run goes on.
pub async fn purge_accounts(app: &App) {
    match app.store.purge_accounts().await {
        Ok(purged) if purged.accounts.is_empty() => {}
        Ok(purged) => {
            for account in &purged.accounts {
                app.access.identities.invalidate_account(*account);
            }
            tracing::info!(accounts = ?purged.accounts, rows = purged.rows, "purged deleted accounts");
        }
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not purge a deleted account");
        }
    }
}
