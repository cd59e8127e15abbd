//! Shared by the benchmarks and fault tests: a server process, and a cheap HTTP client.

pub mod http;
pub mod machine;
pub mod postgres;
pub mod server;
