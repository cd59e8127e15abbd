//! The Prometheus recorder that every metric of the process goes to.

use std::sync::OnceLock;

use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};

/// Bounds of the histogram buckets of every metric that ends in `_seconds`: from a cached read to a client that has
/// given up.
const SECONDS: [f64; 12] = [0.000_25, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 2.5, 10.0];

/// The recorder of this process, installed when it is first requested. None if another one is in place.
pub fn recorder() -> Option<&'static PrometheusHandle> {
    // Metrics of all tests of a process are added here: a test that compares numbers sets a recorder of its own thread.
    static RECORDER: OnceLock<Option<PrometheusHandle>> = OnceLock::new();
    let install = || {
        PrometheusBuilder::new()
            .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), &SECONDS)
            .ok()?
            .install_recorder()
            .ok()
    };
    RECORDER.get_or_init(install).as_ref()
}
