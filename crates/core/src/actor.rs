//! Who asks, and how far that person sees. Every tenant's data is reached through one of these.

use std::net::IpAddr;

use crate::credential::Identity;
use crate::id::{AccountId, DeviceId, GroupId, UserId};
use crate::privilege::Privileges;
use crate::share::Share;

/// The part of an account somebody sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// All of it.
    Account,
    /// One group and its devices.
    Group(GroupId),
    /// One device.
    Device(DeviceId),
}

/// An account and how much of it is in sight: the key to every read of a tenant's data.
///
/// Only the constructors below build one (`non_exhaustive`), so that code outside of this crate has to name where the
/// right to see an account comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Scope {
    /// The tenant.
    pub account: AccountId,
    /// The part of it in sight.
    pub reach: Reach,
}

impl Scope {
    /// What an authenticated user sees.
    pub fn of_user(identity: &Identity) -> Self {
        Self { account: identity.account.id, reach: identity.user.profile.reach() }
    }

    /// The whole account, for a job of the service that no user asked for.
    pub const fn for_background_job(account: AccountId) -> Self {
        Self::whole(account)
    }

    /// The whole account, for what a valid share link shows. The link itself limits which devices are read.
    pub const fn for_share_link(share: &Share) -> Self {
        Self::whole(share.account)
    }

    /// The whole account, for the operator of the service.
    pub const fn for_operator(account: AccountId) -> Self {
        Self::whole(account)
    }

    /// The whole account, for a check inside the store whose outcome does not depend on who asks.
    pub const fn for_store_check(account: AccountId) -> Self {
        Self::whole(account)
    }

    const fn whole(account: AccountId) -> Self {
        Self { account, reach: Reach::Account }
    }

    /// The same account limited to a part of it. A scope that is limited already stays as it is.
    #[must_use]
    pub const fn limited_to(self, reach: Reach) -> Self {
        if self.is_whole() { Self { account: self.account, reach } } else { self }
    }

    /// Whether everything in the account is in sight.
    pub const fn is_whole(self) -> bool {
        matches!(self.reach, Reach::Account)
    }
}

/// The way a request came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// An API token.
    Token,
    /// A console session.
    Session,
    /// A single-use link.
    Link,
    /// The operator's command line.
    Command,
    /// The service itself.
    Service,
}

impl Via {
    /// Its name in the audit log.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Token => "token",
            Self::Session => "session",
            Self::Link => "link",
            Self::Command => "command",
            Self::Service => "service",
        }
    }
}

/// Where a change comes from, as the audit log tells it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The way in.
    pub via: Via,
    /// The user, unless it was the operator or the service itself.
    pub user: Option<UserId>,
    /// The client's address.
    pub address: Option<IpAddr>,
    /// The id of the request, as in the log.
    pub request: Option<String>,
}

impl Origin {
    /// A change made by the operator's command line.
    pub const fn command() -> Self {
        Self { via: Via::Command, user: None, address: None, request: None }
    }

    /// A change the service makes by itself.
    pub const fn service() -> Self {
        Self { via: Via::Service, user: None, address: None, request: None }
    }
}

/// Somebody who changes an account.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Actor {
    /// What is in sight.
    pub scope: Scope,
    /// What may be done.
    pub privileges: Privileges,
    /// Where the change comes from.
    pub origin: Origin,
}

impl Actor {
    /// An authenticated user, with what they see and may do.
    pub fn of_user(identity: &Identity, origin: Origin) -> Self {
        let privileges = identity.user.profile.privileges;
        Self { scope: Scope::of_user(identity), privileges, origin }
    }

    /// The operator, acting on an account by command.
    pub const fn operator(account: AccountId) -> Self {
        Self::for_operator(account, Origin::command())
    }

    /// The operator, acting on an account as this origin says.
    pub const fn for_operator(account: AccountId, origin: Origin) -> Self {
        Self { scope: Scope::for_operator(account), privileges: Privileges::OWNER, origin }
    }

    /// The same actor, seeing a part of the account only.
    #[must_use]
    pub fn limited_to(self, reach: Reach) -> Self {
        Self { scope: self.scope.limited_to(reach), ..self }
    }
}
