//! What the benchmarks and the fault harness share: a built server as a process, and a client that costs little.

pub mod http;
pub mod machine;
pub mod postgres;
pub mod server;
