//! Senders of messages to people by each channel, with the templates of accounts.

mod build;
mod channel_sender;
mod push_targets;
mod template_cache;

pub use build::{MessageCentre, PushParts, Senders};
pub use channel_sender::{ChannelSender, ChannelSenders};
pub use template_cache::TemplateCache;
