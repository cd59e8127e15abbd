//! The connection-serving layer: one listener, HTTP/1.1 and HTTP/2 with or without TLS, and the
//! limits that keep slow, silent or greedy clients from taking the service away from good ones.
//!
//! [`serve`] takes any `axum::Router`-shaped service and knows nothing of what it answers.
//!
//! | who is closed | after (default) | where |
//! |---|---|---|
//! | no first byte, or a head never finished | 10 s | [`ServeConfig::head_timeout`] |
//! | a TLS handshake never finished | 10 s | [`ServeConfig::tls_handshake_timeout`] |
//! | nothing asked since the last answer | 75 s | [`ServeConfig::idle_timeout`] |
//! | a request body below 1 KB/s (answered 408) | 10 s | [`ServeConfig::rate_window`] |
//! | answers taken below 1 KB/s | 10 s | [`ServeConfig::rate_window`] |
//! | an answer of which nothing is taken, [`LongLived`] ones included | 30 s | [`ServeConfig::stall_timeout`] |
//!
//! One timer per connection watches all of them but the request bodies, which carry their own;
//! only time spent waiting for the peer counts, never time the service itself takes.

mod accept;
mod activity;
mod config;
mod connection;
mod counters;
mod limits;
mod listener;
mod pace;
mod proxy;
mod refusal;
mod service;
mod shutdown;
mod slow_body;
mod slow_io;
mod slow_reader;
mod threads;
mod tls;

pub use accept::serve;
pub use config::{Http2Config, ServeConfig, UnreadableAnswer};
pub use counters::{CloseReason, OpenConnections};
pub use limits::{ConnectionLimits, Permit as ConnectionPermit, Refusal};
pub use listener::{BindError, Listener};
pub use proxy::{
    ClientAddress, ForwardedHeader, HostInDoubt, Network, NetworkError, PublicOrigin, Scheme, TrustedProxies,
};
pub use shutdown::ShutdownReport;
pub use slow_body::SlowBody;
pub use slow_reader::LongLived;
pub use threads::Threads;
pub use tls::{Tls, TlsError, install_crypto_provider};
