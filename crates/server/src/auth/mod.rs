//! Authentication: passwords, API keys, tokens, one-time codes, links and sessions.
//!
//! Nothing here depends on HTTP, a store or a clock.

mod alert_link;
pub mod api_key;
mod ed25519;
pub mod gateway_secret;
pub mod link;
pub mod mail_link;
pub mod password;
mod secret;
pub mod session;
pub mod signing;
pub mod token;
pub mod totp;
pub mod verified;

pub use alert_link::{AlertLink, AlertLinks};
pub(crate) use secret::same_bytes;
pub use secret::{Secret, SecretHash};
