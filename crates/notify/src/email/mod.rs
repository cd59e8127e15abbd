//! E-mail by SMTP.
//!
//! The message is composed by lettre, but the SMTP dialogue is our own. If no reply comes after the final dot, it is
//! unknown whether the message was accepted. A library that returns one result for the whole dialogue does not show
//! whether it failed before or after that point.

mod compose;
mod connection;
mod dialogue;
mod pool;
mod reply;
mod sender;
mod settings;

pub use sender::EmailSender;
pub use settings::{Credentials, EmailSettings, Security, SettingsError};
