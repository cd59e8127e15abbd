//! Saves counters that are kept in memory, and deletes expired rows.

use perigee_core::accounts::retention::DeletedRecords;

use crate::app::App;
use crate::disk::DiskSpace;

/// How long messages that stored nothing new are kept while the disk is nearly full, in milliseconds.
const UNUSED_ON_FULL_DISK_MS: i64 = 60 * 60 * 1000;

/// Saves the counters of calls, of openings of share links and of refusals. After a failure they are kept for the
/// next time.
pub async fn save_usage(app: &App) {
    if let Err(error) = app.usage.save(&*app.store).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the count of calls");
    }
    if let Err(error) = app.views.save(&*app.store).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the count of views");
    }
    if let Err(error) = app.refusals.save(&*app.store).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save refusals to the audit log");
    }
}

/// Reads the store's clock and records when it was set.
pub async fn watch_clock(app: &App) {
    if let Err(error) = app.store.watch_clock().await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not note the time");
    }
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Saves the calls by user and hour. After a failure they are kept for the next time.
pub async fn save_hours(app: &App) {
    if let Err(error) = app.hours.save(&*app.store).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the calls of the hour");
    }
}

/// Deletes expired sessions, links and idempotency keys, and messages beyond their retention; adds checksums to rows
/// written before there were checksums.
pub async fn forget_expired(app: &App) {
    match app.store.forget_expired().await {
        Ok(rows) => tracing::debug!(rows, "forgot what is over"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not forget what is over");
        }
    }
    match app.store.fill_checksums().await {
        Ok(rows) => tracing::debug!(rows, "filled in checksums"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not fill in checksums");
        }
    }
    let days = app.config.notifications.retention_days;
    if days == 0 {
        return;
    }
    match app.store.trim_notifications(i64::from(days) * DAY_MS).await {
        Ok(rows) => tracing::debug!(rows, "forgot old messages"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not forget old messages");
        }
    }
}

/// Deletes audit entries, alerts and episodes of rules that are older than the operator keeps them. What fails is
/// tried again the next time.
pub async fn delete_old_records(app: &App) {
    let mut retention = app.config.retention.records();
    // Messages that stored nothing new make room first.
    if DiskSpace::of_store(&app.config).is_some_and(DiskSpace::is_nearly_full) {
        retention.unused_messages_ms = Some(UNUSED_ON_FULL_DISK_MS);
    }
    match app.store.delete_old_records(retention).await {
        Ok(deleted) if deleted == DeletedRecords::default() => {}
        Ok(DeletedRecords { audits, alerts, occurrences, messages, files }) => {
            tracing::info!(audits, alerts, occurrences, messages, files, "deleted old records");
        }
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not delete old records");
        }
    }
}
