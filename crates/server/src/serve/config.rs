//! Every limit of the serving layer, with its default.

use std::time::Duration;

use bytes::Bytes;
use http::{Response, StatusCode};
use tokio::time::Instant;

use super::counters::OpenConnections;
use super::pace::PaceLimit;
use super::proxy::{ForwardedHeader, TrustedProxies};
use super::threads::Threads;

/// Makes the answer to a request that cannot be read.
pub type UnreadableAnswer = fn(StatusCode) -> Response<Bytes>;

/// The limits of one server; `Default` gives the documented values.
///
/// A limit is switched off by a very long duration or a very large number.
#[derive(Debug, Clone)]
pub struct ServeConfig {
    /// How long a connection may take to send its first complete request head, and later how long
    /// a begun HTTP/1.1 head may take to complete; 10 s.
    pub head_timeout: Duration,
    /// How long a TLS handshake may take; 10 s.
    pub tls_handshake_timeout: Duration,
    /// How long a connection may stay open without a request after an answer; 75 s.
    pub idle_timeout: Duration,
    /// The slowest rate at which a peer may send a body or read an answer; 1024 bytes a second.
    pub min_bytes_per_s: u32,
    /// The length of waiting over which the rate is measured; 10 s.
    pub rate_window: Duration,
    /// How long an answer may wait without a single byte being read, also when it is
    /// [`LongLived`](super::LongLived); 30 s.
    pub stall_timeout: Duration,
    /// How long unread input is discarded after an early answer, so that the answer is not lost
    /// to a reset, and how long an idle HTTP/2 peer has to acknowledge a close; 2 s.
    pub linger_timeout: Duration,
    /// How long a graceful shutdown waits for accepted work; 30 s.
    pub shutdown_timeout: Duration,
    /// How many connections may be open; 10,000.
    pub max_connections: usize,
    /// How many connections one address (an IPv6 /64) may hold; 256. Trusted proxies are exempt.
    pub max_connections_per_address: usize,
    /// The largest HTTP/1.1 request head in bytes, at least 8192; 64 KiB.
    pub max_head_bytes: usize,
    /// The limits of HTTP/2 connections.
    pub http2: Http2Config,
    /// The peers whose forwarding headers are trusted; none.
    pub trusted_proxies: TrustedProxies,
    /// Which header those proxies write; `X-Forwarded-*`.
    pub forwarded_header: ForwardedHeader,
    /// Where connections are counted while they are open.
    pub open_connections: OpenConnections,
    /// The threads connections are served on; the caller's.
    pub threads: Threads,
    /// The answer to a request that cannot be read as HTTP/1.1, given the status; an empty one unless set.
    pub unreadable: Option<UnreadableAnswer>,
    /// How often certificate files are checked for a change; 30 s.
    pub certificate_check_interval: Duration,
}

/// The limits particular to HTTP/2.
#[derive(Debug, Clone)]
pub struct Http2Config {
    /// Requests one connection may have under way; 32.
    pub max_concurrent_streams: u32,
    /// The largest decoded header list in bytes; 16 KiB.
    pub max_header_list_bytes: u32,
    /// How often a peer is pinged; 30 s.
    pub keep_alive_interval: Duration,
    /// How long a peer may take to answer a ping; 20 s.
    pub keep_alive_timeout: Duration,
    /// Streams a peer may reset before they were processed, until the connection is closed; 20.
    pub max_pending_resets: usize,
    /// Streams a peer may make this side reset by errors, until the connection is closed; 256.
    pub max_error_resets: usize,
    /// Body bytes a peer may send ahead on one stream; 256 KiB.
    pub stream_window_bytes: u32,
    /// Body bytes a peer may send ahead on the connection; 512 KiB.
    pub connection_window_bytes: u32,
    /// Answer bytes buffered for one stream; 64 KiB.
    pub send_buffer_bytes: usize,
}

impl Default for ServeConfig {
    fn default() -> Self {
        Self {
            head_timeout: Duration::from_secs(10),
            tls_handshake_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(75),
            min_bytes_per_s: 1024,
            rate_window: Duration::from_secs(10),
            stall_timeout: Duration::from_secs(30),
            linger_timeout: Duration::from_secs(2),
            shutdown_timeout: Duration::from_secs(30),
            max_connections: 10_000,
            max_connections_per_address: 256,
            max_head_bytes: 64 * 1024,
            http2: Http2Config::default(),
            trusted_proxies: TrustedProxies::default(),
            forwarded_header: ForwardedHeader::default(),
            open_connections: OpenConnections::default(),
            threads: Threads::default(),
            unreadable: None,
            certificate_check_interval: Duration::from_secs(30),
        }
    }
}

impl Default for Http2Config {
    fn default() -> Self {
        Self {
            max_concurrent_streams: 32,
            max_header_list_bytes: 16 * 1024,
            keep_alive_interval: Duration::from_secs(30),
            keep_alive_timeout: Duration::from_secs(20),
            max_pending_resets: 20,
            max_error_resets: 256,
            stream_window_bytes: 256 * 1024,
            connection_window_bytes: 512 * 1024,
            send_buffer_bytes: 64 * 1024,
        }
    }
}

impl ServeConfig {
    pub(super) fn pace_limit(&self) -> PaceLimit {
        PaceLimit::new(self.rate_window, self.min_bytes_per_s)
    }
}

/// The time `delay` after `now`, or one that is never reached if `delay` means "no limit".
pub(super) fn after(now: Instant, delay: Duration) -> Instant {
    const NEVER: Duration = Duration::from_hours(24 * 365);
    now + delay.min(NEVER)
}
