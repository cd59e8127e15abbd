//! The Perigee service: the HTTP API, listeners for trackers, background jobs, and their configuration.

pub mod access;
pub mod app;
pub mod auth;
pub mod background;
pub mod budget;
pub mod bundled_map;
pub mod cache;
pub mod compaction_status;
pub mod config;
pub mod disk;
pub mod downlink;
pub mod event_format;
pub mod http;
pub mod ingest;
pub mod listen;
pub mod live;
pub mod map_layers;
pub mod poll;
pub mod readiness;
pub mod recorder;
pub mod reports;
pub mod run;
pub mod senders;
pub mod serve;
pub mod tiles;
pub mod webhook;
