//! Messages to people: e-mail by SMTP, SMS by HTTP gateways and SMPP, and the templates that write them.
//!
//! A sender makes one attempt and reports its result. Its caller decides about retries and daily limits.

pub mod email;
pub mod retry_after;
pub mod sms;
pub mod template;

mod pipe;
mod plain;
mod tls;
