//! Looks names up once: what comes out is judged, and what is connected to is exactly that.

use std::net::SocketAddr;
use std::sync::Arc;

use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use super::address::{Guard, Refused};

/// A resolver that gives no address the guard refuses.
#[derive(Debug)]
pub(super) struct Guarded(pub(super) Arc<Guard>);

impl Resolve for Guarded {
    fn resolve(&self, name: Name) -> Resolving {
        let guard = Arc::clone(&self.0);
        Box::pin(async move {
            let found = tokio::net::lookup_host((name.as_str(), 0)).await?;
            let good: Vec<SocketAddr> = found.filter(|address| guard.check(address.ip()).is_ok()).collect();
            if good.is_empty() {
                return Err(Refused::NotGlobal.into());
            }
            let good: Addrs = Box::new(good.into_iter());
            Ok(good)
        })
    }
}
