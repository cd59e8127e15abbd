//! Authenticated callers: handlers reach a tenant's data only with one of these in their signature.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use axum::response::{IntoResponse, Response};
use http::request::Parts;
use perigee_core::access::actor::{Actor, Origin, Reach, Scope, Via};
use perigee_core::access::credential::{Identity, Session};
use perigee_core::access::privilege::{Privilege, Privileges};
use perigee_core::access::user::{User, UserStatus};
use perigee_core::accounts::account::Account;
use perigee_core::id::UserId;
use perigee_core::revision::Revision;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde::Serialize;

use super::conditional::{Preconditions, entity_tag};
use crate::access::{Admitted, Proof, Usage};
use crate::app::App;
use crate::budget::Payer;
use crate::http::authenticate::admit;
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult, forbidden};
use crate::http::error_code::ErrorCode;
use crate::http::limit::{charge_requests, limit_request, limit_submission};
use crate::http::reply::{Reply, not_modified};

/// An authenticated user who may act now.
#[derive(Clone, Debug)]
pub struct Caller {
    identity: Arc<Identity>,
    session: Option<Session>,
    proof: Proof,
    context: RequestContext,
    usage: Usage,
    now: Timestamp,
}

/// The service and its authenticated caller, which most handlers work with.
pub struct Call(pub App, pub Caller);

/// A caller whose body may be a submission; which rate limit applies is known after the body is read.
#[derive(Clone, Debug)]
pub struct Submitter(pub Caller);

/// A caller with a console session, not a token.
#[derive(Clone, Debug)]
pub struct SessionCaller {
    /// The user of the session.
    pub caller: Caller,
    /// The session, for signing out and for ending others.
    pub session: Session,
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let caller = Self::admit(parts, app).await?;
        caller.limit_request(app)?;
        require_active_user(caller.user(), caller.now)?;
        Ok(caller)
    }
}

impl FromRequestParts<App> for Call {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        Ok(Self(app.clone(), Caller::from_request_parts(parts, app).await?))
    }
}

impl FromRequestParts<App> for Submitter {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let caller = Caller::admit(parts, app).await?;
        if let Err(refused) = require_active_user(caller.user(), caller.now) {
            caller.limit_request(app)?;
            return Err(refused);
        }
        Ok(Self(caller))
    }
}

impl FromRequestParts<App> for SessionCaller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let caller = Caller::from_request_parts(parts, app).await?;
        let session = caller.session.ok_or_else(|| {
            ApiError::new(
                ErrorCode::SessionRequired,
                "This operation requires a console session, not a token. Sign in with POST /api/session and send the cookie.",
            )
        })?;
        Ok(Self { caller, session })
    }
}

/// Refuses a user who is disabled, expired or not valid yet.
pub(super) fn require_active_user(user: &User, now: Timestamp) -> ApiResult<()> {
    let (code, default_text) = match user.profile.status(now) {
        UserStatus::Active => return Ok(()),
        UserStatus::Disabled => (
            ErrorCode::UserDisabled,
            "This user is disabled. Ask an administrator of the account to enable it.",
        ),
        UserStatus::NotYetValid => (
            ErrorCode::UserExpired,
            "This user cannot sign in before the time in \"from\". Ask an administrator of the account to change it.",
        ),
        UserStatus::Expired => (
            ErrorCode::UserExpired,
            "This user has expired. Ask an administrator of the account to extend \"expires\".",
        ),
    };
    let own_text = user.profile.disabled_message.as_deref().filter(|_| code == ErrorCode::UserDisabled);
    Err(ApiError::new(code, own_text.unwrap_or(default_text)))
}

/// Refuses the users of an account that is suspended or being deleted. Devices are not concerned.
pub fn require_open_account(account: &Account) -> ApiResult<()> {
    if account.standing.deletion.is_some() {
        return Err(ApiError::new(
            ErrorCode::AccountDeleted,
            "This account is being deleted. If that is a mistake, ask the operator of the server to restore it soon.",
        ));
    }
    let Some(suspension) = &account.standing.suspension else { return Ok(()) };
    let message = suspension.message.as_deref();
    let default_text = "This account is suspended. Its devices still report and its alerts are still sent. \
                        Ask the operator of the server.";
    Err(ApiError::new(ErrorCode::AccountSuspended, message.unwrap_or(default_text)))
}

impl Caller {
    /// Authenticates the request and counts the call, without charging a rate limit.
    async fn admit(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let context = RequestContext::from_request_parts(parts, app).await?;
        let now = app.clock.now();
        let admitted = admit(app, parts, &context, now).await?;
        let (user, account) = (&admitted.identity.user, &admitted.identity.account);
        let via = if admitted.session.is_some() { Via::Session } else { Via::Token };
        context.set_caller(account.id, user.id, via);
        if let Err(refused) = require_open_account(account) {
            limit_request(&app.access.rates, &context, account.id)?;
            return Err(refused);
        }
        let usage = app.counters.usage.count(account, now);
        app.counters.hours.count(account.id, user.id, via == Via::Token, now);
        context.set_usage(usage);
        let Admitted { identity, session, proof } = admitted;
        Ok(Self { identity, session, proof, context, usage, now })
    }

    /// Authenticates the same caller again during a long request; an error says why it must end.
    pub async fn reauthenticate(&self, app: &App) -> ApiResult<Self> {
        let now = app.clock.now();
        let identity = app.access.authenticator.admit_again(&self.proof, now).await?;
        require_open_account(&identity.account)?;
        require_active_user(&identity.user, now)?;
        Ok(Self { identity, now, ..self.clone() })
    }

    /// Charges the call to the account's rate limit.
    pub fn limit_request(&self, app: &App) -> ApiResult<()> {
        limit_request(&app.access.rates, &self.context, self.identity.account.id)
    }

    /// Charges this many more calls to the account's rate limit, whether or not it has them left: the next calls wait for
    /// them. Refused if none is left.
    pub fn charge_requests(&self, app: &App, more: usize) -> ApiResult<()> {
        charge_requests(&app.access.rates, &self.context, self.identity.account.id, more)
    }

    /// Charges the call to the account's rate limit for submissions.
    pub fn limit_submission(&self, app: &App) -> ApiResult<()> {
        limit_submission(&app.access.rates, &self.context, self.identity.account.id)
    }

    /// The payer that the request's memory and work are charged to.
    pub fn payer(&self) -> Payer {
        self.context.payer()
    }

    /// The request's id, for the log.
    pub fn request_id(&self) -> &str {
        self.context.id()
    }

    /// The part of the account that the user sees.
    pub fn scope(&self) -> Scope {
        Scope::of_user(&self.identity)
    }

    /// The user, scope and origin that the store needs for changes.
    pub fn actor(&self) -> Actor {
        Actor::of_user(&self.identity, self.origin())
    }

    /// The origin that the audit log records for the user's changes.
    pub fn origin(&self) -> Origin {
        let via = if self.session.is_some() { Via::Session } else { Via::Token };
        self.context.origin(via, Some(self.user_id()))
    }

    /// The id of the user.
    pub fn user_id(&self) -> UserId {
        self.identity.user.id
    }

    /// The user, read at most two seconds ago.
    pub fn user(&self) -> &User {
        &self.identity.user
    }

    /// The user's account, read at most two seconds ago.
    pub fn account(&self) -> &Account {
        &self.identity.account
    }

    /// The user's time zone, which applies to times without an offset.
    pub fn zone(&self) -> &Zone {
        &self.identity.user.profile.time_zone
    }

    /// The console session; None for a token.
    pub fn session(&self) -> Option<Session> {
        self.session
    }

    /// The privileges of the user.
    pub fn privileges(&self) -> Privileges {
        self.identity.user.profile.privileges
    }

    /// The instant of the request.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Refuses users without this privilege.
    pub fn require(&self, privilege: Privilege) -> ApiResult<()> {
        if self.privileges().allows(privilege) {
            return Ok(());
        }
        Err(forbidden(format!(
            "This operation requires the privilege \"{privilege}\". Ask an administrator of the account for it."
        )))
    }

    /// Refuses users whose scope is a group or a device.
    pub fn require_whole_account(&self) -> ApiResult<()> {
        if self.scope().reach == Reach::Account {
            return Ok(());
        }
        Err(forbidden(
            "This operation requires a user who sees the whole account, and you are limited to a group or a device. Ask an administrator of the account.",
        ))
    }

    /// A successful answer with the account's usage in its envelope.
    pub fn reply<T: Serialize>(&self, body: T) -> Reply<T> {
        Reply::new(Some(self.usage), body)
    }

    /// The resource with its entity tag.
    pub fn reply_at<T: Serialize>(&self, revision: Revision, body: T) -> Reply<T> {
        self.reply(body).revision(revision)
    }

    /// The resource with its entity tag, or 304 if the client has this revision.
    pub fn reply_unless_known<T: Serialize>(
        &self,
        preconditions: &Preconditions,
        revision: Revision,
        body: T,
    ) -> Response {
        match preconditions.known(&entity_tag(revision)) {
            Some(tag) => not_modified(&tag),
            None => self.reply_at(revision, body).into_response(),
        }
    }

    /// The account's call counts, for the envelope.
    pub fn usage(&self) -> Usage {
        self.usage
    }
}
