//! A simulated fleet, simulated trackers and providers, the content of the demo, and the measuring of latencies, shared
//! by the command line, the benchmarks and tests.

pub mod demo;
pub mod downlink;
pub mod fleet;
pub mod latency;
pub mod provider;
pub mod tracker;
