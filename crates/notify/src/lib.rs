//! Messages to people: e-mail by SMTP, SMS by HTTP gateways and SMPP, browsers by Web Push, other channels
//! by HTTP, and their templates.
//!
//! A sender makes one attempt and reports its result. Its caller decides about retries and daily limits.

pub mod email;
pub mod preset;
pub mod push;
pub mod retry_after;
pub mod sms;
pub mod template;

mod http_answer;
mod pipe;
mod plain;
mod tls;
