//! The event log and the audit log.

use async_trait::async_trait;

use super::Result;
use crate::actor::Scope;
use crate::audit::{AuditEntry, AuditFilter, Refusals};
use crate::event::{Event, EventFilter, EventPage};
use crate::id::AccountId;
use crate::page::{Page, PageRequest};

/// The event log; every change writes its rows in its own transaction.
#[async_trait]
pub trait Events: Send + Sync {
    /// Events in sight after this number that are wanted, in arrival order. Never passes a number while a lower one
    /// can appear. There may be fewer than asked for, also none, before the end: it is reached when `next` stands.
    ///
    /// Zero is the beginning of what is kept; any other number from before that is an expired cursor.
    async fn read_events(
        &self,
        scope: Scope,
        filter: &EventFilter,
        after: i64,
        limit: u32,
    ) -> Result<EventPage>;

    /// The present end of the log: where to go on for what happens from now on.
    async fn event_end(&self, scope: Scope) -> Result<i64>;

    /// Events in sight after this number, as many as asked for or all there are.
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

    /// Forgets events of this long ago. Gives how many went. Those of locations go with the log of locations.
    async fn trim_events(&self, keep_ms: i64) -> Result<u64>;
}

/// The audit log; every change writes its row in its own transaction.
#[async_trait]
pub trait Audits: Send + Sync {
    /// Adds refusals to the entries of their kind and hour, or makes these entries. All are of this account.
    async fn add_refusals(&self, account: AccountId, refusals: Vec<Refusals>) -> Result<()>;

    /// Entries of the account, newest first; `after` is the id of the last one seen.
    async fn list_audits(
        &self,
        scope: Scope,
        filter: &AuditFilter,
        page: PageRequest,
    ) -> Result<Page<AuditEntry>>;
}
