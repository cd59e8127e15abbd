//! The audit log: who changed what and when, who signed in, who was denied.

use std::net::IpAddr;

use crate::access::actor::Origin;
use crate::id::{AccountId, AuditId, UserId};
use crate::time::Timestamp;

/// Refusals of one kind within one hour: the first in full, the others as a count.
///
/// A row for each would let a user without privileges fill the disk.
#[derive(Clone, Debug)]
pub struct Refusals {
    /// The account they concern.
    pub account: AccountId,
    /// Refusals with the same kind and hour share an entry, for example one user's requests of one operation.
    pub kind: String,
    /// The origin of the first.
    pub origin: Origin,
    /// The refused action, for example `request.denied` or `session.create`.
    pub action: String,
    /// The object that the first one tried to change.
    pub target: Option<String>,
    /// Why the first was refused, without secrets.
    pub detail: Option<String>,
    /// How many there were; at least one.
    pub count: u64,
    /// When the first was refused. All of them are counted in the entry of this hour.
    pub first_at: Timestamp,
    /// When the last was refused.
    pub last_at: Timestamp,
}

impl Refusals {
    const HOUR_MS: i64 = 3_600_000;

    /// The start of the hour in UTC in which an instant lies.
    pub const fn hour_of(instant: Timestamp) -> Timestamp {
        Timestamp::from_millis(instant.as_millis().div_euclid(Self::HOUR_MS) * Self::HOUR_MS)
    }
}

/// Whether an action was carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditOutcome {
    /// The action was carried out.
    Done,
    /// The action was refused, for example for a missing privilege.
    Denied,
}

impl AuditOutcome {
    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Done => "done",
            Self::Denied => "denied",
        }
    }
}

/// The names of the fields that differ, as a detail such as `changed name, limits`.
pub fn changed(members: &[(&str, bool)]) -> Option<String> {
    let names: Vec<&str> = members.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect();
    (!names.is_empty()).then(|| format!("changed {}", names.join(", ")))
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its id; later entries have larger ones.
    pub id: AuditId,
    /// When it happened, by the server's clock.
    pub at: Timestamp,
    /// How the request was authenticated: a [`crate::access::actor::Via::name`].
    pub via: String,
    /// The user; `None` for the operator's command line and for background jobs.
    pub user: Option<UserId>,
    /// IP address of the client, if there was one.
    pub address: Option<IpAddr>,
    /// The request id, as in the log and in `X-Request-Id`.
    pub request: Option<String>,
    /// The action, for example `group.update`.
    pub action: String,
    /// The id of the object it was applied to.
    pub target: Option<String>,
    /// Whether it was carried out.
    pub outcome: AuditOutcome,
    /// The changes, or the reason of the refusal.
    pub detail: Option<String>,
    /// How often it happened. Above 1 only for refusals, which share one entry per kind and hour.
    pub count: u64,
    /// When it last happened, if `count` is above 1.
    pub last_at: Option<Timestamp>,
}

/// Which entries to list, newest first.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// Only entries of this user.
    pub user: Option<UserId>,
    /// Only entries with this action.
    pub action: Option<String>,
    /// Only entries about the object with this id.
    pub target: Option<String>,
}
