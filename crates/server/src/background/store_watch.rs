//! Watches what an operator has to act on before it becomes an outage: damaged rows, and a disk that fills up.

use std::sync::atomic::{AtomicI64, Ordering};

use metrics::{describe_gauge, gauge};
use perigee_core::time::Timestamp;

use crate::app::App;
use crate::disk::DiskSpace;

/// How often a warning that still holds is repeated.
const REPEAT_MS: i64 = 60 * 60 * 1000;

/// When the disk was last warned of, in milliseconds; 0 while there is room.
#[derive(Debug, Default)]
pub struct DiskWarning(AtomicI64);

impl DiskWarning {
    /// Whether to warn now: when room has become short, and from time to time while it is.
    fn is_due(&self, is_low: bool, now: Timestamp) -> bool {
        let last = self.0.load(Ordering::Relaxed);
        // A clock that was set back must not keep it silent.
        let is_due = is_low && (last == 0 || !(0..REPEAT_MS).contains(&(now.as_millis() - last)));
        if is_due || !is_low {
            self.0.store(if is_low { now.as_millis() } else { 0 }, Ordering::Relaxed);
        }
        is_due
    }
}

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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_warning_is_repeated_seldom_and_renewed_when_room_was_made() {
        let warning = DiskWarning::default();
        let at = |minutes: i64| Timestamp::from_millis(1_767_225_600_000 + minutes * 60_000);
        assert!(!warning.is_due(false, at(0)));
        assert!(warning.is_due(true, at(1)));
        assert!(!warning.is_due(true, at(60)));
        assert!(warning.is_due(true, at(61)));
        assert!(warning.is_due(true, at(-100)), "the clock was set back");
        assert!(!warning.is_due(false, at(62)));
        assert!(warning.is_due(true, at(63)));
    }
}
