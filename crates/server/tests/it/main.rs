//! The API as clients see it: requests through the real router, on both engines.

#![expect(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

mod account;
mod alerts;
mod audit;
mod clock_steps;
mod compatible;
mod console;
mod contract;
mod devices;
mod events;
mod follower;
mod formats;
mod geofences;
mod groups;
mod licenses;
mod limits;
mod locations;
mod many_locations;
mod matrix;
mod messages;
mod notifications;
mod operations;
mod operator;
mod overview;
mod preferences;
mod privileges;
mod readiness;
mod requests;
mod retention;
mod routing_scope;
mod rules;
mod service;
mod session;
mod shares;
mod signing_keys;
mod stream;
mod stream_restart;
mod support;
mod templates;
mod token;
mod usage;
mod user_bounds;
mod users;
mod webhooks;
mod wire;
