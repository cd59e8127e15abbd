//! Webhooks: URLs that events are sent to, managed by an account's admins.

pub mod deliveries;
pub mod input;
pub mod read;
pub mod secret;
pub mod view;
pub mod write;
