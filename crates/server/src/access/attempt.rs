//! Tries to prove who somebody is, held to the limit on failures.

use std::time::Duration;

use axum::extract::FromRequestParts;
use http::request::Parts;
use perigee_core::actor::Via;
use perigee_core::audit::Refusals;
use perigee_core::credential::Login;
use tokio::time::Instant;

use super::rates::Rated;
use crate::app::App;
use crate::budget::{Payer, Slot};
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult};
use crate::http::limit::too_many;

/// No refusal is told sooner. A store finds nobody a little faster than somebody; this is longer than either takes.
const REFUSED_AFTER: Duration = Duration::from_millis(25);

/// The context of a request that tries to prove who somebody is. Whatever becomes of it, its answer tells how many
/// more may fail.
#[derive(Debug)]
pub struct Trial(pub RequestContext);

impl FromRequestParts<App> for Trial {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let context = RequestContext::from_request_parts(parts, app).await?;
        context.set_rated(app.rates.attempt("", context.address()));
        Ok(Self(context))
    }
}

/// One try to prove who somebody is.
///
/// It takes a failure before anything is computed and gives it back when it does not fail, so that a thousand tries at
/// once cost and learn no more than a few. Few of one address run at a time; the others wait, or are refused when too
/// many do.
pub struct Attempt<'a> {
    app: &'a App,
    context: &'a RequestContext,
    name: &'a str,
    begun: Instant,
    /// Given up before a refusal is delayed.
    slot: Option<Slot>,
    /// Whether the failure stays taken when this is dropped.
    keeps_failure: bool,
}

impl<'a> Attempt<'a> {
    /// Begins a try under this name, unless too many failed or are under way.
    pub async fn begin(app: &'a App, context: &'a RequestContext, name: &'a str) -> ApiResult<Self> {
        let begun = Instant::now();
        let address = context.address();
        // Who has no failures left does not wait to be told so.
        refuse_many(context, app.rates.attempt(name, address))?;
        let slot = app.budget.attempts.acquire(Payer::client(address, None), 0).await?;
        refuse_many(context, app.rates.begin_attempt(name, address))?;
        Ok(Self { app, context, name, begun, slot: Some(slot), keeps_failure: false })
    }

    /// Judges what was presented. Whoever goes away meanwhile has failed: the work was done.
    pub async fn judge<T>(&mut self, judging: impl Future<Output = ApiResult<T>>) -> ApiResult<T> {
        self.keeps_failure = true;
        let judged = judging.await;
        self.keeps_failure = false;
        judged
    }

    /// Counts it as failed, and notes that in the audit log when it was somebody known.
    pub async fn fail(mut self, via: Via, action: &'static str, login: Option<Login>, reason: &'static str) {
        self.keeps_failure = true;
        self.slot = None;
        // Counted in memory for a known name, so that time tells nobody whether it is known.
        if let Some(login) = login {
            let now = self.app.clock.now();
            self.app.refusals.add(Refusals {
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
            self.app.rates.end_attempt(self.name, address);
        }
        self.context.set_rated(self.app.rates.attempt(self.name, address));
    }
}

fn refuse_many(context: &RequestContext, rated: Rated) -> ApiResult<()> {
    context.set_rated(rated);
    if rated.allowance.allowed {
        return Ok(());
    }
    Err(too_many(rated, "Too many attempts from this address failed."))
}
