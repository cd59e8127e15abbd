//! The API as clients see it: requests through the real router, on both engines.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod access;
mod accounts;
mod alerts;
mod api;
mod clock_steps;
mod console;
mod devices;
mod drivers;
mod events;
mod gateways;
mod groups;
mod locations;
mod maintenance;
mod map_fetch;
mod map_layers;
mod matrix;
mod notifications;
mod operations;
mod plans;
mod readiness;
mod reports;
mod rules;
mod service;
mod shares;
mod support;
mod timeline;
mod visits;
mod webhooks;
