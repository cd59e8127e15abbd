//! Senders of messages to people: e-mail and SMS, with the templates of accounts.

mod build;
mod channel_sender;
mod template_cache;

pub use build::{MessageCentre, Senders};
pub use channel_sender::{ChannelSender, ChannelSenders};
pub use template_cache::TemplateCache;
