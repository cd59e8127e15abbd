//! Wakes who waits for messages to send.

use perigee_core::notification::Channel;
use tokio::sync::Notify;

/// One bell for each channel. A ring that nobody waits for is heard by the next who does.
#[derive(Debug, Default)]
pub(crate) struct Bells {
    email: Notify,
    sms: Notify,
}

impl Bells {
    pub(crate) fn of(&self, channel: Channel) -> &Notify {
        match channel {
            Channel::Email => &self.email,
            Channel::Sms => &self.sms,
        }
    }
}
