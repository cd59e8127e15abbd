//! Webhooks at work: events are taken from the log for each, signed and sent, until they were taken.

mod address;
mod attempt;
mod client;
mod deliver;
mod follow;
mod places;
mod resolve;
mod run;
mod schedule;
mod signature;

pub use address::{Guard, Refused};
pub use client::{Client, ClientError};
pub use run::{Webhooks, run, turn};
pub use signature::{generate_secret, show_secret, sign};
