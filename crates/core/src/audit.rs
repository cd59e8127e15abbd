//! The audit log: who changed what and when, who signed in, who was denied.

use std::net::IpAddr;

use crate::actor::Origin;
use crate::id::{AccountId, AuditId, UserId};
use crate::time::Timestamp;

/// Refusals of one kind within one hour: the first in full, the others as a count.
///
/// A row for each would let a user without privileges fill the disk.
#[derive(Clone, Debug)]
pub struct Refusals {
    /// The account they concern.
    pub account: AccountId,
    /// What is counted together within an hour, such as one user's requests of one operation.
    pub kind: String,
    /// Where the first came from.
    pub origin: Origin,
    /// What was refused, for example `request.denied` or `session.create`.
    pub action: String,
    /// What the first was aimed at.
    pub target: Option<String>,
    /// Why the first was refused, without secrets.
    pub detail: Option<String>,
    /// How many; at least one.
    pub count: u64,
    /// When the first was refused. Its hour is that of all.
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

/// Whether something was let through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AuditOutcome {
    /// It was done.
    Done,
    /// It was refused.
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

/// The names of the members that differ, as the detail of a change tells them.
pub fn changed(members: &[(&str, bool)]) -> Option<String> {
    let names: Vec<&str> = members.iter().filter(|(_, differs)| *differs).map(|(name, _)| *name).collect();
    (!names.is_empty()).then(|| format!("changed {}", names.join(", ")))
}

/// An entry of the audit log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AuditEntry {
    /// Its id; later entries have larger ones.
    pub id: AuditId,
    /// When.
    pub at: Timestamp,
    /// The way in, as [`crate::actor::Via::name`].
    pub via: String,
    /// Who, unless it was the operator or the service itself.
    pub user: Option<UserId>,
    /// The client's address.
    pub address: Option<IpAddr>,
    /// The id of the request.
    pub request: Option<String>,
    /// What was done.
    pub action: String,
    /// To what.
    pub target: Option<String>,
    /// Whether it was let through.
    pub outcome: AuditOutcome,
    /// More in words.
    pub detail: Option<String>,
    /// How often it happened: refusals of one kind share the entry of their hour.
    pub count: u64,
    /// When it happened last, if more than once.
    pub last_at: Option<Timestamp>,
}

/// Which entries to list, newest first.
#[derive(Clone, Debug, Default)]
pub struct AuditFilter {
    /// By this user.
    pub user: Option<UserId>,
    /// This action.
    pub action: Option<String>,
    /// To this thing.
    pub target: Option<String>,
}
