//! Handlers, one file per resource: extract, check, call, convert. All of them are mounted in
//! [`super::router`].

pub mod access;
pub mod accounts;
mod admit;

pub mod alerts;
pub mod console;
pub mod devices;
pub mod documents;
pub mod drivers;
pub mod events;
pub mod gateways;
pub mod groups;
pub mod locations;
pub mod maintenance;
pub mod metrics;
pub mod notifications;
pub mod operations;
pub mod page_words;
pub mod pages;
pub mod plans;
pub mod reference;
pub mod reports;
pub mod rules;
pub mod shares;
pub mod timeline;
pub mod webhooks;
