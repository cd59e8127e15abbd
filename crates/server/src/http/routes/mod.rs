//! Handlers, one file a resource: extract, check, call, convert. All of them are mounted in
//! [`super::router`].

mod admit;

pub mod account;
pub mod alert_routing;
pub mod alerts;
pub mod api_key;
pub mod audit;
pub mod commands;
pub mod console;
pub mod devices;
pub mod documents;
pub mod events;
pub mod gateway_requests;
pub mod gateways;
pub mod geofences;
pub mod groups;
pub mod heard_devices;
pub mod locations;
pub mod mail;
pub mod mail_page;
pub mod metrics;
pub mod notification_settings;
pub mod notifications;
pub mod operations;
pub mod operator;
pub mod overview_report;
pub mod pages;
pub mod raw_messages;
pub mod reference;
pub mod rules;
pub mod session;
pub mod session_cookie;
pub mod session_password;
pub mod session_preferences;
pub mod session_totp;
pub mod shares;
pub mod shares_public;
pub mod templates;
pub mod token;
pub mod usage;
mod user_bounds;
pub mod user_links;
mod user_password;
pub mod users;
pub mod users_view;
pub mod webhooks;
