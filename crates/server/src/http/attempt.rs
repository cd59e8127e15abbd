//! Limits failed attempts to sign in or to prove a password or key.

use std::sync::Arc;
use std::time::Duration;

use axum::extract::FromRequestParts;
use http::request::Parts;
use perigee_core::access::actor::Via;
use perigee_core::access::audit::Refusals;
use perigee_core::access::credential::Login;
use perigee_core::id::AccountId;
use tokio::time::Instant;

use super::context::RequestContext;
use super::error::{ApiError, ApiResult};
use super::limit::too_many;
use crate::access::Rated;
use crate::app::App;
use crate::budget::{Payer, Queue, Slot};

/// A refusal is delayed at least this long. A lookup that finds no user is a little faster than one that finds a user;
/// this is longer than either takes, so that the time does not reveal which it was.
const REFUSED_AFTER: Duration = Duration::from_millis(25);

/// The context of a request that makes an attempt. Its answer carries the limit on failures, whatever the outcome.
#[derive(Debug)]
pub struct AttemptContext(pub RequestContext);

impl FromRequestParts<App> for AttemptContext {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let context = RequestContext::from_request_parts(parts, app).await?;
        context.set_rated(app.access.rates.attempt("", context.address()));
        Ok(Self(context))
    }
}

/// One attempt to sign in or to prove a password or key.
///
/// An attempt takes a token from the bucket of failures before anything is computed, and returns the token unless the
/// attempt fails. So parallel attempts are limited like sequential ones. Few attempts of one address run at a time; the
/// others queue, or are refused if the queue is full.
pub struct Attempt<'a> {
    app: &'a App,
    context: &'a RequestContext,
    name: &'a str,
    payer: Payer,
    begun: Instant,
    /// Released before a refusal is delayed.
    slot: Option<Slot>,
    /// Whether the failure stays counted when this is dropped.
    keeps_failure: bool,
}

impl<'a> Attempt<'a> {
    /// Begins an attempt with a password under this name, unless too many failed or are running. Users who signed in
    /// from this network before take precedence.
    pub async fn begin(app: &'a App, context: &'a RequestContext, name: &'a str) -> ApiResult<Self> {
        let (address, account) = (context.address(), context.caller().map(|(account, _, _)| account));
        let payer = match account.or_else(|| app.access.known_networks.account_of(name, address)) {
            Some(account) => Payer::client(address, Some(account)),
            None => Payer::signing_in(address),
        };
        Self::begin_in(app, context, name, (&app.budget.attempts, payer)).await
    }

    /// Begins an attempt that needs no password hash, such as one with an API key.
    pub async fn begin_without_hash(
        app: &'a App,
        context: &'a RequestContext,
        name: &'a str,
    ) -> ApiResult<Self> {
        let payer = Payer::client(context.address(), None);
        Self::begin_in(app, context, name, (&app.budget.key_attempts, payer)).await
    }

    async fn begin_in(
        app: &'a App,
        context: &'a RequestContext,
        name: &'a str,
        (queue, payer): (&Arc<Queue>, Payer),
    ) -> ApiResult<Self> {
        let begun = Instant::now();
        let address = context.address();
        // If no failures are left, the answer does not wait for a slot.
        refuse_many(context, app.access.rates.attempt(name, address))?;
        let slot = queue.acquire(payer, 0).await?;
        refuse_many(context, app.access.rates.begin_attempt(name, address))?;
        Ok(Self { app, context, name, payer, begun, slot: Some(slot), keeps_failure: false })
    }

    /// The payer of the password hash of the attempt.
    pub const fn payer(&self) -> Payer {
        self.payer
    }

    /// Records that this name signed in from the network of the client.
    pub fn succeed(&self, account: AccountId) {
        self.app.access.known_networks.remember(self.name, self.context.address(), account);
    }

    /// Checks the credentials. A client that disconnects meanwhile counts as failed, because the work was
    /// done.
    pub async fn check<T>(&mut self, checking: impl Future<Output = ApiResult<T>>) -> ApiResult<T> {
        self.keeps_failure = true;
        let outcome = checking.await;
        self.keeps_failure = false;
        outcome
    }

    /// Counts the attempt as failed, and records it in the audit log when the user exists.
    pub async fn fail(mut self, via: Via, action: &'static str, login: Option<Login>, reason: &'static str) {
        self.keeps_failure = true;
        self.slot = None;
        // Counted in memory, not in the store, so that the time does not show whether the name exists.
        if let Some(login) = login {
            let now = self.app.clock.now();
            self.app.counters.refusals.add(Refusals {
                account: login.account.id,
                kind: format!("{action} {}", login.user.id),
                origin: self.context.origin(via, None),
                action: action.to_owned(),
                target: Some(login.user.id.to_string()),
                detail: Some(reason.to_owned()),
                count: 1,
                first_at: now,
                last_at: now,
            });
        }
        tokio::time::sleep_until(self.begun + REFUSED_AFTER).await;
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        let address = self.context.address();
        if !self.keeps_failure {
            self.app.access.rates.end_attempt(self.name, address);
        }
        self.context.set_rated(self.app.access.rates.attempt(self.name, address));
    }
}

fn refuse_many(context: &RequestContext, rated: Rated) -> ApiResult<()> {
    context.set_rated(rated);
    if rated.allowance.allowed {
        return Ok(());
    }
    Err(too_many(rated, "Too many attempts from this IP address have failed."))
}
