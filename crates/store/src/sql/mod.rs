//! The SQL of the domain, written once for both engines.
//!
//! Every change locks its account first, then looks for a request already answered, checks, and writes the rows,
//! their events and their audit entry in the same transaction.

pub(crate) mod accounts;
pub(crate) mod alerts;
mod api_keys;
mod api_usage;
pub(crate) mod audit;
mod calls;
pub(crate) mod checksum;
pub(crate) mod clock;
pub(crate) mod column;
mod credentials;
mod deliveries;
pub(crate) mod devices;
mod directory;
mod editions;
mod email_recipients;
mod event_append;
pub(crate) mod event_filter;
mod event_subjects;
pub(crate) mod event_trim;
pub(crate) mod events;
pub(crate) mod fill_checksums;
mod geofences;
mod groups;
mod history;
pub(crate) mod idempotency;
pub(crate) mod identity;
mod ids;
mod large_groups;
mod license_check;
mod licenses;
pub(crate) mod locations;
mod logins;
mod members;
mod metrics;
pub(crate) mod outbox;
mod overview;
mod passwords;
mod probe;
pub(crate) mod quarantine;
pub(crate) mod query;
mod records;
mod retention;
mod routing;
pub(crate) mod rule_engine;
mod rules;
pub(crate) mod scope;
pub(crate) mod search;
mod sessions;
mod shares;
mod signing_keys;
mod table_lock;
mod templates;
mod totp;
mod upkeep;
mod user_rows;
mod users;
mod webhook_rows;
mod webhook_work;
mod webhooks;

pub(crate) use locations::SubmissionQueues;
