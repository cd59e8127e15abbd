//! The domain of Perigee: its types and rules.
//!
//! Nothing here does I/O or knows of HTTP, SQL or wire formats. Stores implement the traits of [`store`].

pub mod access;
pub mod accounts;
pub mod alerts;
pub mod backoff;
pub mod clock;
pub mod clock_watch;
pub mod day;
pub mod devices;
pub mod drivers;
pub mod error;
pub mod events;
pub mod gateways;
pub mod groups;
pub mod id;
pub mod idempotency;
pub mod json_size;
pub mod language;
pub mod locations;
pub mod maintenance;
pub mod notifications;
pub mod page;
pub mod plans;
pub mod reports;
pub mod revision;
pub mod rules;
pub mod shares;
pub mod store;
pub mod text;
pub mod time;
pub mod timeline;
pub mod webhooks;
pub mod zone;
