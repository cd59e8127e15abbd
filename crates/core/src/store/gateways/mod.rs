//! Storage of gateways: their settings and health, polls, raw messages, identifiers and emergencies.

pub(super) mod account_gateways;
pub(super) mod emergencies;
pub(super) mod gateway_health;
pub(super) mod polls;
pub(super) mod raw_messages;
pub(super) mod reporters;
