//! Channels that are data: the HTTP request of a preset in `channels.toml`, filled with a message and sent.

mod answer;
mod request;
mod sender;
mod template;

pub use sender::{PresetSender, PresetSettings, UrlCheck};
pub use template::PresetError;
