//! Gateways: messages of feeds and trackers, and their devices.

pub mod account_gateway;
pub mod claim;
pub mod decoding;
pub mod feed_health;
pub mod gateway;
pub mod message_contents;
pub mod network;
pub mod raw_usage;
