//! Background jobs: each is a function that tests call directly; `jobs` runs them in loops.

mod commands;
mod compaction;
mod escalation;
mod expiry;
mod feeds;
mod heard;
mod jobs;
mod maintenance;
mod metrics;
mod missing_alerts;
mod outbox;
mod overview;
mod receipts;
mod retention;
mod rule_engine;
mod signing_keys;
mod store_watch;
mod timelines;

pub use commands::run_commands;
pub use compaction::{compact_locations, trim_logs};
pub use escalation::escalate;
pub use expiry::announce_expiries;
pub use feeds::{poll_feeds, watch_feeds};
pub use heard::{announce_recorded_sos, replay_claimed};
pub use jobs::Jobs;
pub use maintenance::{delete_expired, delete_old_records, save_hours, save_usage, watch_clock};
pub use metrics::publish_store;
pub use missing_alerts::store_missing_alerts;
pub use outbox::Worker;
pub use overview::write_overview;
pub use receipts::note_receipts;
pub use retention::delete_expired_locations;
pub use rule_engine::RuleEngine;
pub use signing_keys::load_signing_keys;
pub use store_watch::{watch_size, watch_store};
pub use timelines::TimelineEngine;
