//! Composes and sends the messages of each configured channel.

use std::collections::BTreeMap;
use std::sync::Arc;

use perigee_core::notifications::notification::{Channel, Compose, Sender};

/// The composer and the sender of one channel.
#[derive(Clone)]
pub struct ChannelSender {
    /// Turns the content of a notification into the text of a message.
    pub compose: Arc<dyn Compose>,
    /// Makes one attempt to send a message.
    pub sender: Arc<dyn Sender>,
}

/// The configured channels. Notifications by other channels are recorded as suppressed.
#[derive(Clone, Default)]
pub struct ChannelSenders(BTreeMap<Channel, ChannelSender>);

impl ChannelSenders {
    /// The sender of this channel, if it is configured.
    pub fn of(&self, channel: Channel) -> Option<&ChannelSender> {
        self.0.get(&channel)
    }

    /// Sends the messages of a channel by this sender.
    pub fn insert(&mut self, channel: Channel, sender: ChannelSender) {
        self.0.insert(channel, sender);
    }
}
