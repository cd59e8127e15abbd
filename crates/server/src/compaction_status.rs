//! The work of the compaction of the location log since the start, for health and metrics.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use metrics::{counter, gauge};

/// Whether compaction runs, and how many locations it has moved into chunks.
#[derive(Debug, Default)]
pub struct CompactionStatus {
    is_running: AtomicBool,
    locations: AtomicU64,
}

impl CompactionStatus {
    /// Whether locations are being moved at this moment.
    pub fn is_running(&self) -> bool {
        self.is_running.load(Ordering::Relaxed)
    }

    /// Locations moved into chunks since the start.
    pub fn locations(&self) -> u64 {
        self.locations.load(Ordering::Relaxed)
    }

    /// Called when a run of compaction begins and ends.
    pub fn set_running(&self, is_running: bool) {
        self.is_running.store(is_running, Ordering::Relaxed);
        gauge!("perigee_locations_packing").set(if is_running { 1.0 } else { 0.0 });
    }

    /// Adds the locations of one run.
    pub fn add(&self, locations: u64) {
        self.locations.fetch_add(locations, Ordering::Relaxed);
        counter!("perigee_locations_packed_total").increment(locations);
    }
}
