//! The senders against peers that behave well and badly, over real sockets.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod email;
mod gateway;
mod overview;
mod presets;
mod push;
mod sms_http;
mod sms_smpp;
mod smsc;
mod smtp;
mod template;
