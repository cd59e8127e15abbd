//! E-mail by SMTP.
//!
//! The message is written by lettre; the dialogue with the server is our own, because the answer to "was it taken?"
//! hangs on one point: once the final dot is on its way and no answer comes, nobody can know. A library that wraps
//! the whole dialogue into one result hides on which side of that point it failed.

mod compose;
mod connection;
mod dialogue;
mod pool;
mod reply;
mod sender;
mod settings;

pub use sender::EmailSender;
pub use settings::{Credentials, EmailSettings, Security, SettingsError};
