//! Tenants who make the server send: mails, texts to devices, notifications to browsers.

pub(crate) mod conversations;
pub(crate) mod mail_relay;
pub(crate) mod mail_strangers;
pub(crate) mod push;
pub(crate) mod saved_reports;
