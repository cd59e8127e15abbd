//! The connection-serving layer: one listener, HTTP/1.1 and HTTP/2 with or without TLS, and limits so that slow, silent
//! or excessive clients do not make the service unavailable to others.
//!
//! [`serve`] takes any service with the interface of `axum::Router` and does not depend on its routes.
//!
//! | reason to close a connection | after (default) | where |
//! |---|---|---|
//! | no first byte, or a head never finished | 10 s | [`ServeConfig::head_timeout`] |
//! | a TLS handshake never finished | 10 s | [`ServeConfig::tls_handshake_timeout`] |
//! | no request since the last answer | 75 s | [`ServeConfig::idle_timeout`] |
//! | a request body sent at less than 1 KB/s (answered 408) | 10 s | [`ServeConfig::rate_window`] |
//! | answers read at less than 1 KB/s | 10 s | [`ServeConfig::rate_window`] |
//! | an answer of which nothing is read, [`LongLived`] ones included | 30 s | [`ServeConfig::stall_timeout`] |
//!
//! One timer per connection checks all of these except request bodies, which have their own. Only time spent waiting
//! for the peer counts, not the time that the service takes.

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
mod turns;

pub use accept::serve;
pub use config::{Http2Config, ServeConfig, UnreadableAnswer};
pub use counters::{CloseReason, OpenConnections};
pub use limits::{ConnectionLimits, Permit as ConnectionPermit, Refusal};
pub use listener::{BindError, Listener};
pub use proxy::{
    AmbiguousHost, ClientAddress, ForwardedHeader, Network, NetworkError, PublicOrigin, Scheme,
    TrustedProxies,
};
pub use shutdown::ShutdownReport;
pub use slow_body::SlowBody;
pub use slow_reader::LongLived;
pub use threads::Threads;
pub use tls::{Tls, TlsError, install_crypto_provider};
