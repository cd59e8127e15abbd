//! Watches for damaged rows and a full disk, which an operator has to act on before they cause an outage.

use metrics::{describe_gauge, gauge};

use crate::app::App;
use crate::disk::{DiskSpace, is_near_limit};

/// Publishes free space and the number of damaged rows, and warns when the disk is nearly full.
pub async fn watch_store(app: &App) {
    describe_gauge!("perigee_data_disk_free_bytes", "Bytes free on the disk of the embedded store.");
    describe_gauge!("perigee_data_disk_bytes", "Bytes of the disk of the embedded store.");
    describe_gauge!("perigee_store_damaged_rows", "Damaged rows that were skipped since the start.");
    describe_gauge!("perigee_store_quarantined_rows", "Damaged rows in quarantine.");
    if let Some(disk) = DiskSpace::of_store(&app.config) {
        gauge!("perigee_data_disk_free_bytes").set(as_f64(disk.free));
        gauge!("perigee_data_disk_bytes").set(as_f64(disk.total));
        app.ingest.raw.set_disk_full(disk.is_nearly_full());
        if app.health.disk_warning.is_due(disk.is_low(&app.config.store), app.clock.now()) {
            tracing::warn!(
                free_bytes = disk.free,
                bytes = disk.total,
                "the disk of the store is nearly full; free some space, or locations will be refused"
            );
        }
    }
    match app.store.damage_metrics().await {
        Ok(damage) => {
            gauge!("perigee_store_damaged_rows").set(as_f64(damage.passed_over));
            gauge!("perigee_store_quarantined_rows").set(as_f64(damage.set_aside));
        }
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not count damaged rows");
        }
    }
}

/// Compares the size of the database with its limit. After a failure the last result stays.
pub async fn watch_size(app: &App) {
    if app.config.store.size_limit_mib == 0 {
        return;
    }
    match app.store.database_size().await {
        Ok(bytes) => app.ingest.raw.set_limit_near(is_near_limit(bytes, &app.config.store)),
        Err(error) => {
            tracing::warn!(
                error = &error as &dyn std::error::Error,
                "could not read the size of the database"
            );
        }
    }
}

/// Metrics are floating-point numbers.
#[expect(clippy::cast_precision_loss, reason = "exact up to 8 PiB")]
const fn as_f64(number: u64) -> f64 {
    number as f64
}
