//! The domain of Perigee: what its things are and which rules they obey.
//!
//! Nothing here does I/O or knows of HTTP, SQL or wire formats. Stores implement the traits of [`store`].

pub mod account;
pub mod account_gateway;
pub mod actor;
pub mod alert;
pub mod audit;
pub mod backoff;
pub mod clock;
pub mod clock_watch;
pub mod command;
pub mod country;
pub mod credential;
pub mod day;
pub mod device;
pub mod error;
pub mod event;
pub mod gateway;
pub mod geofence;
pub mod group;
pub mod id;
pub mod idempotency;
pub mod license;
pub mod limits;
pub mod location;
pub mod notification;
pub mod overview;
pub mod page;
pub mod phone;
pub mod preference;
pub mod privilege;
pub mod reporting_interval;
pub mod retention;
pub mod revision;
pub mod routing;
pub mod rule;
pub mod schedule;
pub mod severity;
pub mod share;
pub mod sphere;
pub mod store;
pub mod text;
pub mod time;
pub mod user;
pub mod webhook;
pub mod zone;
