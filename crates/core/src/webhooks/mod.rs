//! Webhooks and their deliveries.

pub mod webhook;
