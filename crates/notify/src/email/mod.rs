//! E-mail by SMTP.
//!
//! The message is composed by lettre, but the SMTP dialogue is our own. If no reply comes after the final dot, nobody
//! can know whether the message was accepted. A library that returns one result for the whole dialogue hides on which
//! side of that point it failed.

mod compose;
mod connection;
mod dialogue;
mod pool;
mod reply;
mod sender;
mod settings;

pub use sender::EmailSender;
pub use settings::{Credentials, EmailSettings, Security, SettingsError};
