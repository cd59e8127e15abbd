//! Tries to prove who somebody is, held to the limit on failures.

use std::time::Duration;

use axum::extract::FromRequestParts;
use http::request::Parts;
use perigee_core::actor::Via;
use perigee_core::audit::{AuditOutcome, NewAudit};
use perigee_core::credential::Login;
use tokio::time::Instant;

use crate::app::{App, too_many};
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult};

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
/// Judging it takes a while, and meanwhile others may fail: [`Self::check`] is asked again before the outcome is
/// told, so that a thousand tries at once learn no more than a few.
pub struct Attempt<'a> {
    app: &'a App,
    context: &'a RequestContext,
    name: &'a str,
    begun: Instant,
}

impl<'a> Attempt<'a> {
    /// Begins a try under this name, unless too many failed.
    pub fn begin(app: &'a App, context: &'a RequestContext, name: &'a str) -> ApiResult<Self> {
        let attempt = Self { app, context, name, begun: Instant::now() };
        attempt.check()?;
        Ok(attempt)
    }

    /// Refuses it when too many failed by now.
    pub fn check(&self) -> ApiResult<()> {
        let rated = self.app.rates.attempt(self.name, self.context.address());
        self.context.set_rated(rated);
        if rated.allowance.allowed {
            return Ok(());
        }
        Err(too_many(rated, "Too many attempts from this address failed."))
    }

    /// Counts it as failed, and notes that in the audit log when it was somebody known.
    pub async fn fail(&self, via: Via, action: &'static str, login: Option<Login>, reason: &'static str) {
        self.app.rates.failed_attempt(self.name, self.context.address());
        self.context.set_rated(self.app.rates.attempt(self.name, self.context.address()));
        let (store, origin) = (self.app.store.clone(), self.context.origin(via, None));
        // In the background for known and unknown names alike, so that time tells nobody which it was.
        self.app.background.spawn(async move {
            let Some(login) = login else { return };
            let entry = NewAudit {
                account: login.account.id,
                origin,
                action: action.to_owned(),
                target: Some(login.user.id.to_string()),
                outcome: AuditOutcome::Denied,
                detail: Some(reason.to_owned()),
            };
            if let Err(error) = store.add_audit(entry).await {
                tracing::warn!(%error, "could not note a denied attempt");
            }
        });
        tokio::time::sleep_until(self.begun + REFUSED_AFTER).await;
    }
}
