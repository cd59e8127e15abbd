//! The senders against peers that behave well, badly and worse, over real sockets.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod email;
mod gateway;
mod overview;
mod sms_http;
mod sms_smpp;
mod smsc;
mod smtp;
mod template;
