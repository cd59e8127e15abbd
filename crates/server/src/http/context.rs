//! The context of one request, shared by all layers.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::{Arc, OnceLock};

use axum::extract::FromRequestParts;
use http::Extensions;
use http::request::Parts;
use parking_lot::Mutex;
use perigee_core::access::actor::{Origin, Via};
use perigee_core::id::{AccountId, UserId};

use crate::access::{Rated, Usage};
use crate::budget::Payer;
use crate::serve::ClientAddress;

/// One request: its ID, its client's address, and facts about its caller.
#[derive(Clone, Debug)]
pub struct RequestContext(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    id: String,
    address: IpAddr,
    usage: OnceLock<Usage>,
    rated: Mutex<Option<Rated>>,
    caller: OnceLock<(AccountId, UserId, Via)>,
}

impl RequestContext {
    /// Takes the client's address from the extensions that the listener set.
    pub fn new(extensions: &Extensions) -> Self {
        let address =
            extensions.get::<ClientAddress>().map_or(IpAddr::V4(Ipv4Addr::LOCALHOST), |client| client.0);
        let id = format!("req_{:024x}", rand::random::<u128>() >> 32);
        Self(Arc::new(Inner {
            id,
            address,
            usage: OnceLock::new(),
            rated: Mutex::new(None),
            caller: OnceLock::new(),
        }))
    }

    /// The request's id, as in the log.
    pub fn id(&self) -> &str {
        &self.0.id
    }

    /// The address of the client, as reported by a trusted proxy if there is one.
    pub fn address(&self) -> IpAddr {
        self.0.address
    }

    /// The account's call counts; None before the caller is identified.
    pub fn usage(&self) -> Option<Usage> {
        self.0.usage.get().copied()
    }

    /// The token bucket that was charged last; None before the first.
    pub fn rated(&self) -> Option<Rated> {
        *self.0.rated.lock()
    }

    /// The caller; None before it is identified.
    pub fn caller(&self) -> Option<(AccountId, UserId, Via)> {
        self.0.caller.get().copied()
    }

    /// The payer that the request's memory and work are charged to: the address, and the account once it is known.
    pub fn payer(&self) -> Payer {
        Payer::client(self.0.address, self.caller().map(|(account, _, _)| account))
    }

    /// Sets the account's call counts.
    pub fn set_usage(&self, usage: Usage) {
        let _only_once = self.0.usage.set(usage);
    }

    /// Sets the token bucket that was charged.
    pub fn set_rated(&self, rated: Rated) {
        *self.0.rated.lock() = Some(rated);
    }

    /// Sets the caller, for the log and the audit log.
    pub fn set_caller(&self, account: AccountId, user: UserId, via: Via) {
        let _only_once = self.0.caller.set((account, user, via));
    }

    /// The origin that the audit log records for changes made by this request.
    pub fn origin(&self, via: Via, user: Option<UserId>) -> Origin {
        Origin { via, user, address: Some(self.0.address), request: Some(self.0.id.clone()) }
    }
}

impl<S: Send + Sync> FromRequestParts<S> for RequestContext {
    type Rejection = super::error::ApiError;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Self::Rejection> {
        parts
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or_else(|| super::error::internal("the request has no context: the frame layer is missing"))
    }
}
