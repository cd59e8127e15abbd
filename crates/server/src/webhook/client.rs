//! The client that posts messages: no redirects, no proxies, and only addresses that the guard allows.

use std::sync::Arc;
use std::time::Duration;

use perigee_tls::{Trust, TrustError, client_config};
use reqwest::redirect::Policy;
use url::Url;

use super::address::{Guard, Refused};
use super::resolve::Guarded;

pub(super) const CONNECT_TIMEOUT: Duration = Duration::from_secs(5);
const IDLE_TIMEOUT: Duration = Duration::from_secs(30);
/// Connections kept open to one receiver while nothing is sent.
const IDLE_CONNECTIONS: usize = 8;

/// Posts messages to the addresses that the guard allows.
#[derive(Clone, Debug)]
pub struct Client {
    pub(super) http: reqwest::Client,
    pub(super) guard: Arc<Guard>,
    pub(super) names: Guarded,
    pub(super) timeout: Duration,
}

/// Why the client cannot be set up.
#[derive(Debug, thiserror::Error)]
pub enum ClientError {
    /// TLS cannot be set up.
    #[error("cannot set up TLS")]
    Tls(#[from] TrustError),
    /// HTTP cannot be set up.
    #[error("cannot set up the HTTP client")]
    Http(#[from] reqwest::Error),
}

impl Client {
    /// A client for the addresses the guard allows, with this time limit for a whole answer.
    pub fn new(guard: Guard, timeout: Duration) -> Result<Self, ClientError> {
        Self::build(guard, timeout, |http| http.timeout(timeout))
    }

    /// A client for long downloads: the time limit is for the silence between two parts of an answer.
    pub fn for_downloads(guard: Guard, timeout: Duration) -> Result<Self, ClientError> {
        Self::build(guard, timeout, |http| http.read_timeout(timeout))
    }

    fn build(
        guard: Guard,
        timeout: Duration,
        limit: impl FnOnce(reqwest::ClientBuilder) -> reqwest::ClientBuilder,
    ) -> Result<Self, ClientError> {
        let guard = Arc::new(guard);
        let names = Guarded::new(Arc::clone(&guard));
        let http = reqwest::Client::builder()
            .tls_backend_preconfigured(client_config(&Trust::Public)?)
            .user_agent(concat!("perigee/", env!("CARGO_PKG_VERSION")))
            .dns_resolver(Arc::new(names.clone()))
            .redirect(Policy::none())
            .no_proxy()
            .referer(false)
            .no_gzip()
            .connect_timeout(CONNECT_TIMEOUT.min(timeout))
            .pool_idle_timeout(IDLE_TIMEOUT)
            .pool_max_idle_per_host(IDLE_CONNECTIONS);
        Ok(Self { http: limit(http).build()?, guard, names, timeout })
    }

    /// Checks an address before its name is resolved.
    pub fn check_url(&self, url: &Url) -> Result<(), Refused> {
        self.guard.check_url(url)
    }

    /// The HTTP client. It checks the addresses to which names resolve, but not addresses in URLs.
    pub fn http(&self) -> reqwest::Client {
        self.http.clone()
    }
}
