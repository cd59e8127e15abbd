//! Watches what an operator has to act on before it becomes an outage: damaged rows, and a disk that fills up.

use metrics::{describe_gauge, gauge};

use crate::app::App;
use crate::disk::DiskSpace;

/// Publishes how much room there is and how many rows are damaged, and warns when room becomes short.
pub async fn watch_store(app: &App) {
    describe_gauge!("perigee_data_disk_free_bytes", "Bytes free on the disk of the embedded store.");
    describe_gauge!("perigee_data_disk_bytes", "Bytes of the disk of the embedded store.");
    describe_gauge!("perigee_store_damaged_rows", "Damaged rows that were passed over since the start.");
    describe_gauge!("perigee_store_quarantined_rows", "Damaged rows that were set aside.");
    if let Some(disk) = DiskSpace::of_store(&app.config) {
        gauge!("perigee_data_disk_free_bytes").set(as_f64(disk.free));
        gauge!("perigee_data_disk_bytes").set(as_f64(disk.total));
        if app.disk_warning.is_due(disk.is_low(&app.config.store), app.clock.now()) {
            tracing::warn!(
                free_bytes = disk.free,
                bytes = disk.total,
                "the disk of the store is nearly full; make room, or locations will be refused"
            );
        }
    }
    match app.store.damage_figures().await {
        Ok(damage) => {
            gauge!("perigee_store_damaged_rows").set(as_f64(damage.passed_over));
            gauge!("perigee_store_quarantined_rows").set(as_f64(damage.set_aside));
        }
        Err(error) => {
            tracing::warn!(error = &error as &dyn std::error::Error, "could not count damaged rows");
        }
    }
}

/// As metrics are kept; sizes of disks lose nothing that matters.
#[expect(clippy::cast_precision_loss, reason = "exact up to 8 PiB")]
const fn as_f64(number: u64) -> f64 {
    number as f64
}
