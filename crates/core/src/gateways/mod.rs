//! Gateways: what feeds and trackers send, and to whom it belongs.

pub mod account_gateway;
pub mod claim;
pub mod decoding;
pub mod feed_health;
pub mod gateway;
pub mod message_contents;
pub mod raw_usage;
