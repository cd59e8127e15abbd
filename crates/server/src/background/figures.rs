//! Publishes what only a look at the store can tell.

use metrics::{counter, describe_counter};
use perigee_store::Stats;

use crate::http::routes::operations::recorder;

/// Publishes the store's counters, and lets the recorder tidy up what it has gathered.
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
    counter!("perigee_store_commits_total").absolute(stats.commits);
    counter!("perigee_store_jobs_committed_total").absolute(stats.jobs_committed);
    counter!("perigee_store_jobs_failed_total").absolute(stats.jobs_failed);
    counter!("perigee_store_jobs_refused_total").absolute(stats.jobs_refused);
    counter!("perigee_store_checkpoints_total").absolute(stats.checkpoints);
}
