//! Sends events to webhooks: reads the log for each webhook, stores deliveries, signs and sends them, retries.

mod address;
mod attempt;
mod backoff;
mod client;
mod deliver;
mod exchange;
mod fetch;
mod follow;
mod permits;
mod resolve;
mod run;
mod signature;

pub use address::{Guard, Refused};
pub use client::{Client, ClientError};
pub use fetch::{Credentials, Fetched, PostError, Posted};
pub use run::{WebhookParts, Webhooks, run, turn};
pub use signature::{HEADERS, Header, generate_secret, show_secret, sign};
