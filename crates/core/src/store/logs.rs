//! The event log and the audit log.

use async_trait::async_trait;

use super::Result;
use crate::access::actor::Scope;
use crate::access::audit::{AuditEntry, AuditFilter, Refusals};
use crate::events::event::{Event, EventFilter, EventPage};
use crate::id::AccountId;
use crate::page::{Page, PageRequest};

/// The event log; every change writes its rows in its own transaction.
#[async_trait]
pub trait Events: Send + Sync {
    /// Reads events of the scope after a number that pass the filter, in order of arrival. Never passes a number while
    /// a lower one can still appear. A page may hold fewer events than requested, or none, before the end; the end is
    /// reached when `next` equals `after`.
    ///
    /// Zero starts at the oldest stored event; any other number before that is an expired cursor.
    async fn read_events(
        &self,
        scope: Scope,
        filter: &EventFilter,
        after: i64,
        limit: u32,
    ) -> Result<EventPage>;

    /// The number of the last event; continue from here for later ones.
    async fn event_end(&self, scope: Scope) -> Result<i64>;

    /// Lists events of the scope after a number: as many as requested, or all there are.
    async fn list_events(&self, scope: Scope, mut after: i64, limit: u32) -> Result<Vec<Event>> {
        let wanted = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut events = Vec::new();
        while events.len() < wanted {
            let left = u32::try_from(wanted - events.len()).unwrap_or(u32::MAX);
            let page = self.read_events(scope, &EventFilter::default(), after, left).await?;
            events.extend(page.events);
            if page.next == after {
                break;
            }
            after = page.next;
        }
        Ok(events)
    }

    /// Deletes events older than `keep_ms`. Returns how many. Events of locations are deleted with the location log.
    async fn trim_events(&self, keep_ms: i64) -> Result<u64>;
}

/// The audit log; every change writes its row in its own transaction.
#[async_trait]
pub trait Audits: Send + Sync {
    /// Adds refusals of one account to the entries of their kind and hour, creating entries as needed.
    async fn add_refusals(&self, account: AccountId, refusals: Vec<Refusals>) -> Result<()>;

    /// Lists entries of the account, newest first; `after` is the id of the last one seen.
    async fn list_audits(
        &self,
        scope: Scope,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditEntry>>;
}
