//! Wakes the outbox workers when a message was committed.

use perigee_core::notifications::notification::Channel;
use tokio::sync::Notify;

/// One signal per channel. A signal without a waiting worker is kept for the next one that waits.
#[derive(Debug, Default)]
pub(crate) struct OutboxSignals {
    email: Notify,
    sms: Notify,
}

impl OutboxSignals {
    pub(crate) fn of(&self, channel: Channel) -> &Notify {
        match channel {
            Channel::Email => &self.email,
            Channel::Sms => &self.sms,
        }
    }
}
