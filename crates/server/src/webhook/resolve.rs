//! Looks names up once: what comes out is judged, and what is connected to is exactly that.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;

use super::address::Guard;

/// Names looked up at once. A look cannot be broken off, and goes on when nobody waits for it any more.
const LOOKS_MAX: usize = 64;
/// Shorter than the time to connect, so that a look that takes too long ends in the same error as one that fails.
const LOOK_TIMEOUT: Duration = Duration::from_secs(4);

/// No address was found that may be sent to. One error for unknown names, for names of private addresses and for looks
/// that took too long: whoever manages webhooks must not learn which names exist inside of the operator's network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no address of the public Internet was found for this name")]
pub(super) struct NoAddress;

/// A resolver that gives no address the guard refuses.
#[derive(Debug)]
pub(super) struct Guarded {
    guard: Arc<Guard>,
    looks: Arc<Semaphore>,
}

impl Guarded {
    pub(super) fn new(guard: Arc<Guard>) -> Self {
        Self { guard, looks: Arc::new(Semaphore::new(LOOKS_MAX)) }
    }
}

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let (guard, looks) = (Arc::clone(&self.guard), Arc::clone(&self.looks));
        Box::pin(async move {
            let found = tokio::time::timeout(LOOK_TIMEOUT, look_up(name.as_str().to_owned(), looks));
            let found = match found.await {
                Ok(Ok(found)) => found,
                Ok(Err(reason)) => return refuse(name.as_str(), &reason),
                Err(_elapsed) => return refuse(name.as_str(), "looking it up took too long"),
            };
            let good: Vec<SocketAddr> =
                found.into_iter().filter(|address| guard.check(address.ip()).is_ok()).collect();
            if good.is_empty() {
                return refuse(name.as_str(), "it stands for private or special addresses alone");
            }
            let good: Addrs = Box::new(good.into_iter());
            Ok(good)
        })
    }
}

async fn look_up(name: String, looks: Arc<Semaphore>) -> Result<Vec<SocketAddr>, String> {
    let place = looks.acquire_owned().await.map_err(|closed| closed.to_string())?;
    // A task of its own keeps the place until the look is over, whoever still wants to know.
    let look = tokio::spawn(async move {
        let found = tokio::net::lookup_host((name.as_str(), 0)).await;
        drop(place);
        found.map(Iterator::collect::<Vec<SocketAddr>>)
    });
    match look.await {
        Ok(found) => found.map_err(|error| error.to_string()),
        Err(error) => Err(error.to_string()),
    }
}

/// Tells the operator why, and the caller only that there is no address.
fn refuse(name: &str, reason: &str) -> Result<Addrs, Box<dyn std::error::Error + Send + Sync>> {
    tracing::info!(name, reason, "no webhook is sent to this name");
    Err(NoAddress.into())
}
