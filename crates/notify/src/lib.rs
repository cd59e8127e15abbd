//! Messages to people: e-mail by SMTP, SMS by HTTP gateways and SMPP, and the templates that write them.
//!
//! A sender makes one attempt and says honestly what it knows of its fate; when to try again, and how often a day,
//! is decided by whoever calls it.

pub mod email;
pub mod retry_after;
pub mod sms;
pub mod template;

mod pipe;
mod plain;
mod tls;
