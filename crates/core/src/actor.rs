//! Who asks, and how far that person sees. Every tenant's data is reached through one of these.

use std::net::IpAddr;

use crate::id::{AccountId, DeviceId, GroupId, UserId};
use crate::privilege::Privileges;

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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The tenant.
    pub account: AccountId,
    /// The part of it in sight.
    pub reach: Reach,
}

impl Scope {
    /// The whole of an account.
    pub const fn whole(account: AccountId) -> Self {
        Self { account, reach: Reach::Account }
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
pub struct Actor {
    /// What is in sight.
    pub scope: Scope,
    /// What may be done.
    pub privileges: Privileges,
    /// Where the change comes from.
    pub origin: Origin,
}

impl Actor {
    /// The operator, acting on an account by command.
    pub const fn operator(account: AccountId) -> Self {
        Self { scope: Scope::whole(account), privileges: Privileges::OWNER, origin: Origin::command() }
    }
}
