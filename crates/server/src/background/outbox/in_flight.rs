//! The messages that this node is sending, and when it may take over messages of another node.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use perigee_core::id::NotificationId;
use perigee_core::notifications::notification::Content;
use tokio::time::Instant;

/// Lease of a reservation. Messages of a node that died are taken over after this time.
pub(super) const LEASE: Duration = Duration::from_mins(1);
/// How often a lease is renewed while its message is being sent.
pub(super) const RENEW_EVERY: Duration = Duration::from_secs(15);

/// The messages being sent by this node. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct InFlight(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    messages: HashSet<NotificationId>,
    /// Until this time no node is considered dead, because no node could renew its leases while the store was
    /// unavailable.
    renewal_grace_until: Option<Instant>,
}

/// A message being sent, until it is dropped.
pub(super) struct InFlightMessage {
    in_flight: InFlight,
    id: NotificationId,
}

impl InFlight {
    /// Records that a message is being sent.
    pub(super) fn begin(&self, id: NotificationId) -> InFlightMessage {
        self.0.lock().messages.insert(id);
        InFlightMessage { in_flight: self.clone(), id }
    }

    /// Records that the store did not answer.
    pub(super) fn store_failed(&self) {
        self.0.lock().renewal_grace_until = Some(Instant::now() + LEASE);
    }

    /// Whether a message that is due may be sent by this node now.
    pub(super) fn admits(&self, content: &Content) -> bool {
        let state = self.0.lock();
        let is_taken = state.messages.contains(&content.id);
        let is_grace = state.renewal_grace_until.is_some_and(|until| Instant::now() < until);
        !is_taken && (!content.is_lost || !is_grace)
    }
}

impl Drop for InFlightMessage {
    fn drop(&mut self) {
        self.in_flight.0.lock().messages.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::id::AccountId;
    use perigee_core::notifications::notification::{Appearance, Channel, Occasion};
    use perigee_core::notifications::routing::Preferences;
    use perigee_core::time::Timestamp;
    use perigee_core::zone::Zone;

    use super::*;

    fn content(id: i64, is_lost: bool) -> Content {
        Content {
            id: NotificationId::from_i64(id),
            account: AccountId::from_i64(1),
            account_name: String::new(),
            appearance: Appearance::default(),
            channel: Channel::EMAIL,
            to: String::new(),
            preferences: Preferences::default(),
            time_zone: Zone::utc(),
            occasion: Occasion::Deleted,
            device: None,
            last_location: None,
            base_url: String::new(),
            mail_link: None,
            is_stranger: false,
            acknowledge_link: None,
            created: Timestamp::MIN,
            is_lost,
            now: Timestamp::MIN,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn no_node_counts_as_dead_after_the_store_was_unavailable() {
        let in_flight = InFlight::default();
        let messages = in_flight.begin(NotificationId::from_i64(1));
        assert!(!in_flight.admits(&content(1, true)), "this node is sending it");
        assert!(in_flight.admits(&content(2, true)) && in_flight.admits(&content(2, false)));
        in_flight.store_failed();
        assert!(!in_flight.admits(&content(2, true)) && in_flight.admits(&content(2, false)));
        tokio::time::advance(LEASE).await;
        assert!(in_flight.admits(&content(2, true)), "a live node has renewed by now");
        drop(messages);
        assert!(in_flight.admits(&content(1, true)));
    }
}
