//! The audit log: who changed what and when, who signed in, who was denied.

use std::net::IpAddr;

use crate::actor::Origin;
use crate::id::{AccountId, AuditId, UserId};
use crate::time::Timestamp;

/// Something worth remembering, to be written.
#[derive(Clone, Debug)]
pub struct NewAudit {
    /// The account it concerns.
    pub account: AccountId,
    /// Where it came from.
    pub origin: Origin,
    /// What was done, for example `device.update` or `session.create`.
    pub action: String,
    /// The id of what it was done to.
    pub target: Option<String>,
    /// Whether it was let through.
    pub outcome: AuditOutcome,
    /// A sentence with more, without secrets.
    pub detail: Option<String>,
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
