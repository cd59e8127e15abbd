//! Resolves names once and checks the addresses. The connection goes to exactly these, so that a second, different
//! DNS answer cannot lead it elsewhere.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;

use super::address::Guard;

/// Names resolved at the same time. A lookup cannot be cancelled and continues after its caller gave up.
const LOOKUPS_MAX: usize = 64;
/// Shorter than the time to connect, so that a slow lookup ends with the same error as a failed one.
const LOOKUP_TIMEOUT: Duration = Duration::from_secs(4);

/// No allowed address was found. Unknown names, names of private addresses and slow lookups give the same error:
/// users who manage webhooks must not learn which names exist in the operator's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the host name has no address on the public Internet")]
pub(super) struct NoAddress;

/// A resolver that drops addresses the guard refuses.
#[derive(Clone, Debug)]
pub(super) struct Guarded {
    guard: Arc<Guard>,
    lookups: Arc<Semaphore>,
}

impl Guarded {
    pub(super) fn new(guard: Arc<Guard>) -> Self {
        Self { guard, lookups: Arc::new(Semaphore::new(LOOKUPS_MAX)) }
    }

    /// The allowed addresses of a name, without a port.
    pub(super) async fn addresses(&self, name: &str) -> Result<Vec<SocketAddr>, NoAddress> {
        let lookup = look_up(name.to_owned(), Arc::clone(&self.lookups));
        let found = match tokio::time::timeout(LOOKUP_TIMEOUT, lookup).await {
            Ok(Ok(found)) => found,
            Ok(Err(reason)) => return Err(refuse(name, &reason)),
            Err(_elapsed) => return Err(refuse(name, "the lookup of the host name took too long")),
        };
        let is_allowed = |address: &SocketAddr| self.guard.check(address.ip()).is_ok();
        let good: Vec<SocketAddr> = found.into_iter().filter(is_allowed).collect();
        if good.is_empty() {
            return Err(refuse(name, "all of its addresses are private or reserved"));
        }
        Ok(good)
    }
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let guarded = self.clone();
        Box::pin(async move {
            let good: Addrs = Box::new(guarded.addresses(name.as_str()).await?.into_iter());
            Ok(good)
        })
    }
}

async fn look_up(name: String, lookups: Arc<Semaphore>) -> Result<Vec<SocketAddr>, String> {
    let permit = lookups.acquire_owned().await.map_err(|closed| closed.to_string())?;
    // A separate task holds the permit until the lookup is over, even if the caller gave up.
    let lookup = tokio::spawn(async move {
        let found = tokio::net::lookup_host((name.as_str(), 0)).await;
        drop(permit);
        found.map(Iterator::collect::<Vec<SocketAddr>>)
    });
    match lookup.await {
        Ok(found) => found.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Logs the reason for the operator; the caller learns only that there is no address.
fn refuse(name: &str, reason: &str) -> NoAddress {
    tracing::info!(name, reason, "nothing is sent to this name");
    NoAddress
}
