//! What the command line shares with the benchmarks and tests: a simulated fleet, and the measuring of latencies.

pub mod fleet;
pub mod latency;
