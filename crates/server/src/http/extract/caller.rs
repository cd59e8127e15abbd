//! Who asks: nothing of a tenant is reached without one of these in a handler's signature.

use std::sync::Arc;

use axum::extract::FromRequestParts;
use http::request::Parts;
use perigee_core::account::Account;
use perigee_core::actor::{Actor, Origin, Reach, Scope, Via};
use perigee_core::credential::{Identity, Session};
use perigee_core::id::UserId;
use perigee_core::privilege::{Privilege, Privileges};
use perigee_core::time::Timestamp;
use perigee_core::user::{Standing, User};
use perigee_core::zone::Zone;
use serde::Serialize;

use crate::access::{Admitted, Proof, Usage};
use crate::app::App;
use crate::budget::Payer;
use crate::http::authenticate::admit;
use crate::http::code::Code;
use crate::http::context::RequestContext;
use crate::http::error::{ApiError, ApiResult, forbidden};
use crate::http::limit::{limit_request, limit_submission};
use crate::http::reply::Reply;

/// Somebody who proved who they are and may act now.
#[derive(Clone, Debug)]
pub struct Caller {
    identity: Arc<Identity>,
    session: Option<Session>,
    proof: Proof,
    context: RequestContext,
    usage: Usage,
    now: Timestamp,
}

/// Somebody who sends a body that may submit something: which limit it counts against is known once it is read.
#[derive(Clone, Debug)]
pub struct Submitter(pub Caller);

/// Somebody signed in to the console, not a token.
#[derive(Clone, Debug)]
pub struct SessionCaller {
    /// Who.
    pub caller: Caller,
    /// Their session.
    pub session: Session,
}

impl FromRequestParts<App> for Caller {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let caller = Self::admit(parts, app).await?;
        caller.limit_request(app)?;
        refuse_bad_standing(caller.user(), caller.now)?;
        Ok(caller)
    }
}

impl FromRequestParts<App> for Submitter {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let caller = Caller::admit(parts, app).await?;
        if let Err(refused) = refuse_bad_standing(caller.user(), caller.now) {
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
                Code::SessionRequired,
                "This needs a console session, not a token. Sign in with POST /api/session and send its cookie.",
            )
        })?;
        Ok(Self { caller, session })
    }
}

fn refuse_bad_standing(user: &User, now: Timestamp) -> ApiResult<()> {
    let (code, otherwise) = match user.profile.standing(now) {
        Standing::Good => return Ok(()),
        Standing::Disabled => {
            (Code::UserDisabled, "This user is disabled. Ask an administrator of the account.")
        }
        Standing::NotYetValid => {
            (Code::UserExpired, "This user is not valid yet. Ask an administrator of the account.")
        }
        Standing::Expired => {
            (Code::UserExpired, "This user's validity is over. Ask an administrator of the account.")
        }
    };
    let told = user.profile.disabled_message.as_deref().filter(|_| code == Code::UserDisabled);
    Err(ApiError::new(code, told.unwrap_or(otherwise)))
}

impl Caller {
    /// Lets somebody in and counts the call, against no limit yet.
    async fn admit(parts: &mut Parts, app: &App) -> ApiResult<Self> {
        let context = RequestContext::from_request_parts(parts, app).await?;
        let now = app.clock.now();
        let admitted = admit(app, parts, &context, now).await?;
        let (user, account) = (&admitted.identity.user, &admitted.identity.account);
        let via = if admitted.session.is_some() { Via::Session } else { Via::Token };
        context.set_caller(account.id, user.id, via);
        let usage = app.usage.count(account, now);
        app.hours.count(account.id, user.id, via == Via::Token, now);
        context.set_usage(usage);
        let Admitted { identity, session, proof } = admitted;
        Ok(Self { identity, session, proof, context, usage, now })
    }

    /// Them again at present, while their request goes on, or why it must not.
    pub async fn again(&self, app: &App) -> ApiResult<Self> {
        let now = app.clock.now();
        let identity = app.authenticator.admit_again(&self.proof, now).await?;
        refuse_bad_standing(&identity.user, now)?;
        Ok(Self { identity, now, ..self.clone() })
    }

    /// Counts the call against the account's limit.
    pub fn limit_request(&self, app: &App) -> ApiResult<()> {
        limit_request(&app.rates, &self.context, self.identity.account.id)
    }

    /// Counts the call against the account's limit on submissions.
    pub fn limit_submission(&self, app: &App) -> ApiResult<()> {
        limit_submission(&app.rates, &self.context, self.identity.account.id)
    }

    /// Who pays for what their request costs.
    pub fn payer(&self) -> Payer {
        self.context.payer()
    }

    /// The id of their request, for the log.
    pub fn request_id(&self) -> &str {
        self.context.id()
    }

    /// What they see.
    pub fn scope(&self) -> Scope {
        Scope::of_user(&self.identity)
    }

    /// Them, as the store wants to know it.
    pub fn actor(&self) -> Actor {
        Actor::of_user(&self.identity, self.origin())
    }

    /// Where their changes come from.
    pub fn origin(&self) -> Origin {
        let via = if self.session.is_some() { Via::Session } else { Via::Token };
        self.context.origin(via, Some(self.user_id()))
    }

    /// Their id.
    pub fn user_id(&self) -> UserId {
        self.identity.user.id
    }

    /// They themselves, at most two seconds old.
    pub fn user(&self) -> &User {
        &self.identity.user
    }

    /// Their account, at most two seconds old.
    pub fn account(&self) -> &Account {
        &self.identity.account
    }

    /// Their time zone: that of times they write without an offset.
    pub fn zone(&self) -> &Zone {
        &self.identity.user.profile.time_zone
    }

    /// Their console session, unless they came with a token.
    pub fn session(&self) -> Option<Session> {
        self.session
    }

    /// What they may do.
    pub fn privileges(&self) -> Privileges {
        self.identity.user.profile.privileges
    }

    /// The instant of the request.
    pub fn now(&self) -> Timestamp {
        self.now
    }

    /// Refuses them unless they may do this.
    pub fn require(&self, privilege: Privilege) -> ApiResult<()> {
        if self.privileges().allows(privilege) {
            return Ok(());
        }
        Err(forbidden(format!(
            "This needs the privilege \"{privilege}\". Ask an administrator of the account for it."
        )))
    }

    /// Refuses them unless they see the whole account.
    pub fn require_whole_account(&self) -> ApiResult<()> {
        if self.scope().reach == Reach::Account {
            return Ok(());
        }
        Err(forbidden("This needs a user who sees the whole account; you see a group or a device only."))
    }

    /// Their answer, with this in it.
    pub fn reply<T: Serialize>(&self, body: T) -> Reply<T> {
        Reply::new(Some(self.usage), body)
    }

    /// The figures that stand in their answers.
    pub fn usage(&self) -> Usage {
        self.usage
    }
}
