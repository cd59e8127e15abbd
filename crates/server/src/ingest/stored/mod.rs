//! Stored messages: their quota, and decoding them again.

pub(super) mod known_alerts;
pub(super) mod missing_alerts;
pub(super) mod raw_quota;
pub(super) mod replay;
pub(super) mod reprocess;
pub(super) mod stored_request;
