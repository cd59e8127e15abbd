//! The messages this node is sending, and when it may take over those of another node.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use perigee_core::id::NotificationId;
use perigee_core::notification::Content;
use tokio::time::Instant;

/// Lease of a reservation. Messages of a node that died are taken over after this time.
pub(super) const LEASE: Duration = Duration::from_mins(1);
/// How often a lease is renewed while its message is being sent.
pub(super) const RENEW_EVERY: Duration = Duration::from_secs(15);

/// The messages being sent by this node. Clones share them.
#[derive(Clone, Debug, Default)]
pub(super) struct Hold(Arc<Mutex<State>>);

#[derive(Debug, Default)]
struct State {
    under_way: HashSet<NotificationId>,
    /// While the store was away no node could renew. Until this time others may do so before they are taken for dead.
    patient_until: Option<Instant>,
}

/// A message being sent, until it is dropped.
pub(super) struct UnderWay {
    hold: Hold,
    id: NotificationId,
}

impl Hold {
    /// Records that a message is being sent.
    pub(super) fn begin(&self, id: NotificationId) -> UnderWay {
        self.state().under_way.insert(id);
        UnderWay { hold: self.clone(), id }
    }

    /// Records that the store did not answer.
    pub(super) fn lost_touch(&self) {
        self.state().patient_until = Some(Instant::now() + LEASE);
    }

    /// Whether a message that is due may be sent by this node now.
    pub(super) fn admits(&self, content: &Content) -> bool {
        let state = self.state();
        let is_taken = state.under_way.contains(&content.id);
        let is_patient = state.patient_until.is_some_and(|until| Instant::now() < until);
        !is_taken && (!content.is_lost || !is_patient)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for UnderWay {
    fn drop(&mut self) {
        self.hold.state().under_way.remove(&self.id);
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::id::AccountId;
    use perigee_core::notification::{Channel, Occasion};
    use perigee_core::routing::Preferences;
    use perigee_core::time::Timestamp;
    use perigee_core::zone::Zone;

    use super::*;

    fn content(id: i64, is_lost: bool) -> Content {
        Content {
            id: NotificationId::from_i64(id),
            account: AccountId::from_i64(1),
            account_name: String::new(),
            channel: Channel::Email,
            to: String::new(),
            preferences: Preferences::default(),
            time_zone: Zone::utc(),
            occasion: Occasion::Gone,
            device: None,
            last_location: None,
            base_url: String::new(),
            mail_link: None,
            created: Timestamp::MIN,
            is_lost,
            now: Timestamp::MIN,
        }
    }

    #[tokio::test(start_paused = true)]
    async fn nobody_is_taken_for_dead_while_the_store_was_away() {
        let hold = Hold::default();
        let under_way = hold.begin(NotificationId::from_i64(1));
        assert!(!hold.admits(&content(1, true)), "this node is at it");
        assert!(hold.admits(&content(2, true)) && hold.admits(&content(2, false)));
        hold.lost_touch();
        assert!(!hold.admits(&content(2, true)) && hold.admits(&content(2, false)));
        tokio::time::advance(LEASE).await;
        assert!(hold.admits(&content(2, true)), "who lives has renewed by now");
        drop(under_way);
        assert!(hold.admits(&content(1, true)));
    }
}
