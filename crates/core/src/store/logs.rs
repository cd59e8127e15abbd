//! The event log and the audit log.

use async_trait::async_trait;

use super::Result;
use crate::actor::Scope;
use crate::audit::{AuditEntry, AuditFilter, NewAudit};
use crate::event::Event;
use crate::page::{Page, PageRequest};

/// The event log; every change writes its rows in its own transaction.
#[async_trait]
pub trait Events: Send + Sync {
    /// Events in sight after this number, in arrival order. Never passes a number while a lower one can appear.
    ///
    /// Zero is the beginning of what is kept; any other number from before that is an expired cursor.
    async fn list_events(&self, scope: Scope, after: i64, limit: u32) -> Result<Vec<Event>>;

    /// Forgets events of this long ago. Gives how many went. Those of locations go with the log of locations.
    async fn trim_events(&self, keep_ms: i64) -> Result<u64>;
}

/// The audit log; every change writes its row in its own transaction.
#[async_trait]
pub trait Audits: Send + Sync {
    /// Notes something that changed nothing, such as a denied attempt.
    async fn add_audit(&self, entry: NewAudit) -> Result<()>;

    /// Entries of the account, newest first; `after` is the id of the last one seen.
    async fn list_audits(
        &self,
        scope: Scope,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditEntry>>;
}
