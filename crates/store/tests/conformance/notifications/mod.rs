//! Notifications: recipients, routing, limits and the outbox.

pub(crate) mod email;
pub(crate) mod outbox;
pub(crate) mod outbox_race;
pub(crate) mod outbox_time;
pub(crate) mod overview;
pub(crate) mod push;
pub(crate) mod recipients;
pub(crate) mod routing;
pub(crate) mod saved_reports;
pub(crate) mod templates;
