//! The SQL of the domain, written once for both engines.
//!
//! Every change locks its account first, then looks for a request already answered, checks, and writes the rows,
//! their events and their audit entry in the same transaction.

pub(crate) mod access;
pub(crate) mod accounts;
pub(crate) mod alerts;
pub(crate) mod checksum;
pub(crate) mod clock;
pub(crate) mod column;
mod conversations;
pub(crate) mod devices;
mod drivers;
pub(crate) mod events;
pub(crate) mod fill_checksums;
mod gateways;
mod groups;
mod history;
pub(crate) mod idempotency;
pub(crate) mod identity;
mod ids;
pub(crate) mod locations;
pub(crate) mod maintenance;
mod metrics;
pub(crate) mod notifications;
pub(crate) mod one_bit;
mod plans;
mod probe;
pub(crate) mod quarantine;
pub(crate) mod query;
mod records;
pub(crate) mod reports;
pub(crate) mod rules;
pub(crate) mod scope;
pub(crate) mod search;
mod shares;
mod table_lock;
pub(crate) mod timeline;
mod upkeep;
mod webhooks;

pub(crate) use locations::SubmissionQueue;
