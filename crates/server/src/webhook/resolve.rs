//! Looks names up once: what comes out is judged, and what is connected to is exactly that.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use tokio::sync::Semaphore;

use super::address::{Guard, Refused};

/// Names looked up at once. A look cannot be broken off, and goes on when nobody waits for it any more.
const LOOKS_MAX: usize = 64;

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
            let place = looks.acquire_owned().await?;
            // A task of its own keeps the place until the look is over, whoever still wants to know.
            let look = tokio::spawn(async move {
                let found = tokio::net::lookup_host((name.as_str(), 0)).await;
                drop(place);
                found.map(Iterator::collect::<Vec<SocketAddr>>)
            });
            let found = look.await??.into_iter();
            let good: Vec<SocketAddr> = found.filter(|address| guard.check(address.ip()).is_ok()).collect();
            if good.is_empty() {
                return Err(Refused::NotGlobal.into());
            }
            let good: Addrs = Box::new(good.into_iter());
            Ok(good)
        })
    }
}
