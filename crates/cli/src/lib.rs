//! What the command line shares with the benchmarks and tests: a simulated fleet, simulated trackers and providers, and the
//! measuring of latencies.

pub mod fleet;
pub mod latency;
pub mod provider;
pub mod tracker;
