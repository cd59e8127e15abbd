//! The ways out: for each channel that is configured, who writes its messages and who sends them.

use std::sync::Arc;

use perigee_core::notification::{Channel, Compose, Sender};

/// One way out.
#[derive(Clone)]
pub struct Outlet {
    /// Writes the messages.
    pub compose: Arc<dyn Compose>,
    /// Sends them.
    pub sender: Arc<dyn Sender>,
}

/// The ways out there are. What has none is recorded as suppressed.
#[derive(Clone, Default)]
pub struct Outlets {
    /// For e-mails.
    pub email: Option<Outlet>,
    /// For SMS.
    pub sms: Option<Outlet>,
}

impl Outlets {
    /// The way out for this channel, if there is one.
    pub fn of(&self, channel: Channel) -> Option<&Outlet> {
        match channel {
            Channel::Email => self.email.as_ref(),
            Channel::Sms => self.sms.as_ref(),
        }
    }
}
