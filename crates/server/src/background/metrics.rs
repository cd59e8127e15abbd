//! Publishes the counters of the store as metrics.

use metrics::{counter, describe_counter, describe_gauge};
use perigee_store::Stats;

use crate::recorder::recorder;

/// Publishes the store's counters, and runs the upkeep of the recorder.
pub fn publish_store(stats: Stats) {
    if let Some(recorder) = recorder() {
        recorder.run_upkeep();
    }
    describe_counter!("perigee_store_commits_total", "Transactions committed by write jobs.");
    describe_counter!(
        "perigee_store_jobs_committed_total",
        "Write jobs committed; several may share a commit."
    );
    describe_counter!("perigee_store_jobs_failed_total", "Write jobs that failed.");
    describe_counter!("perigee_store_jobs_refused_total", "Write jobs refused because the queue was full.");
    describe_counter!("perigee_store_checkpoints_total", "Checkpoints of the write-ahead log.");
    describe_counter!("perigee_locations_packed_total", "Locations compacted into chunks.");
    describe_gauge!("perigee_locations_packing", "1 while locations are compacted into chunks.");
    describe_counter!("perigee_store_replica_reads_total", "Histories read from the replica.");
    counter!("perigee_store_commits_total").absolute(stats.commits);
    counter!("perigee_store_jobs_committed_total").absolute(stats.jobs_committed);
    counter!("perigee_store_jobs_failed_total").absolute(stats.jobs_failed);
    counter!("perigee_store_jobs_refused_total").absolute(stats.jobs_refused);
    counter!("perigee_store_checkpoints_total").absolute(stats.checkpoints);
    counter!("perigee_store_replica_reads_total").absolute(stats.replica_reads);
}
