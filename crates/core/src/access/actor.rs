//! Who makes a request and what they can see. All tenant data is read and changed through one of these types.

use std::net::IpAddr;

use crate::access::credential::Identity;
use crate::access::privilege::{Privilege, Privileges};
use crate::gateways::gateway::Reporter;
use crate::id::{AccountId, DeviceId, GroupId, UserId};
use crate::shares::share::Share;

/// How much of an account a user sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Reach {
    /// Everything in the account.
    Account,
    /// One group and its devices.
    Group(GroupId),
    /// A single device and nothing else.
    Device(DeviceId),
}

/// An account and how much of it is visible. Every read of tenant data takes a scope.
///
/// Only the constructors below build one (`non_exhaustive`), so that code outside of this crate must state the source
/// of the right to see an account.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct Scope {
    /// The account that owns the data.
    pub account: AccountId,
    /// How much of the account is visible.
    pub reach: Reach,
}

impl Scope {
    /// The scope of an authenticated user.
    pub fn of_user(identity: &Identity) -> Self {
        Self { account: identity.account.id, reach: identity.user.profile.reach() }
    }

    /// The whole account, for a job of the service that no user requested.
    pub const fn for_background_job(account: AccountId) -> Self {
        Self::whole(account)
    }

    /// The whole account, for the content of a valid share link. The link itself limits which devices are read.
    pub const fn for_share_link(share: &Share) -> Self {
        Self::whole(share.account)
    }

    /// The whole account, for the operator of the service.
    pub const fn for_operator(account: AccountId) -> Self {
        Self::whole(account)
    }

    /// The whole account, for reports of one of its devices. Only a store builds it, after it has found the device.
    pub const fn for_gateway(account: AccountId) -> Self {
        Self::whole(account)
    }

    /// The whole account, for a check inside the store whose outcome does not depend on the caller.
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

    /// Whether the scope covers the whole account.
    pub const fn is_whole(self) -> bool {
        matches!(self.reach, Reach::Account)
    }
}

/// How a request was authenticated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// With an API token.
    Token,
    /// With a cookie of the console.
    Session,
    /// With a single-use link that sets a password.
    Link,
    /// By the operator on the command line; no user is involved.
    Command,
    /// By a background job of the service.
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

/// The origin of a change, as recorded in the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// How the request was authenticated.
    pub via: Via,
    /// The user, unless it was the operator or the service itself.
    pub user: Option<UserId>,
    /// IP address of the client, if the change was requested over the network.
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

/// The author of a change. Every change of tenant data takes an actor.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Actor {
    /// The part of the account that the author sees; anything else is "not found".
    pub scope: Scope,
    /// The privileges of the author.
    pub privileges: Privileges,
    /// The origin of the change.
    pub origin: Origin,
}

impl Actor {
    /// An authenticated user, with their scope and privileges.
    pub fn of_user(identity: &Identity, origin: Origin) -> Self {
        let privileges = identity.user.profile.privileges;
        Self { scope: Scope::of_user(identity), privileges, origin }
    }

    /// The operator acting on an account on the command line, with all privileges.
    pub const fn operator(account: AccountId) -> Self {
        Self::for_operator(account, Origin::command())
    }

    /// The operator, acting on an account with this origin.
    pub const fn for_operator(account: AccountId, origin: Origin) -> Self {
        Self { scope: Scope::for_operator(account), privileges: Privileges::OWNER, origin }
    }

    /// A device that reports through a gateway.
    pub fn for_gateway(reporter: &Reporter) -> Self {
        let privileges = [Privilege::LocationsWrite, Privilege::AlertsWrite].into_iter().collect();
        Self { scope: reporter.scope, privileges, origin: Origin::service() }
    }

    /// The same actor, seeing a part of the account only.
    #[must_use]
    pub fn limited_to(self, reach: Reach) -> Self {
        Self { scope: self.scope.limited_to(reach), ..self }
    }
}
