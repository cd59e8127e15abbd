//! Saves counters that are kept in memory, and deletes expired rows.

use perigee_core::accounts::retention::DeletedRecords;

use crate::app::App;
use crate::disk::DiskSpace;

/// Retention of messages that stored nothing new while the disk is nearly full, or the database near its size limit, in
/// milliseconds.
const UNUSED_ON_FULL_DISK_MS: i64 = 60 * 60 * 1000;

/// Saves the counters of calls, of openings of share links and of refusals. After a failure they are kept for the
/// next time.
pub async fn save_usage(app: &App) {
    if let Err(error) = app.counters.usage.save(&*app.store).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the count of calls");
    }
    if let Err(error) = app.counters.views.save(&*app.store).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the count of views");
    }
    if let Err(error) = app.counters.refusals.save(&*app.store).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save refusals to the audit log");
    }
}

/// Reads the store's clock and detects steps of it.
pub async fn watch_clock(app: &App) {
    if let Err(error) = app.store.watch_clock().await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the time");
    }
}

const DAY_MS: i64 = 24 * 60 * 60 * 1000;

/// Saves the calls by user and hour. After a failure they are kept for the next time.
pub async fn save_hours(app: &App) {
    if let Err(error) = app.counters.hours.save(&*app.store).await {
        tracing::warn!(error = &error as &dyn std::error::Error, "could not save the calls of the hour");
    }
}

/// Deletes expired sessions, links and idempotency keys, and messages beyond their retention; adds checksums to rows
/// written before there were checksums.
pub async fn delete_expired(app: &App) {
    match app.store.delete_expired().await {
        Ok(rows) => tracing::debug!(rows, "deleted expired rows"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not delete expired rows");
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
        Ok(rows) => tracing::debug!(rows, "deleted old raw messages"),
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not delete old raw messages");
        }
    }
}

/// Deletes audit entries, alerts and episodes of rules beyond the configured retention. Failures are retried the next
/// time.
pub async fn delete_old_records(app: &App) {
    let mut retention = app.config.retention.records();
    // Messages that stored nothing new are deleted first.
    let disk = DiskSpace::of_store(&app.config);
    if disk.is_some_and(DiskSpace::is_nearly_full) || app.ingest.raw.is_limit_near() {
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
