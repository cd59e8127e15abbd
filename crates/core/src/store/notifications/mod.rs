//! Notifications: recipients, routing, escalations, templates and the outbox.

pub(crate) mod contacts;
pub(crate) mod escalations;
pub(crate) mod outbox;
pub(crate) mod overview;
pub(crate) mod push;
pub(crate) mod recipients;
pub(crate) mod routing;
pub(crate) mod templates;
