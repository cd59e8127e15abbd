//! Pollers: fetch messages from providers that do not send them, and close gaps after an outage.
//!
//! A poll is leased to one node, fetched, stored, and settled. If it is interrupted, the next poll begins where the
//! last settled one ended, and duplicates are recognised.

mod garmin;
mod mapshare;
mod options;
mod poller;
mod provider;
mod spot;
mod window;

pub use poller::{Fetch, Poller};
pub use provider::Provider;
