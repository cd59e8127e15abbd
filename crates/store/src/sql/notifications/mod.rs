//! Notifications: recipients, routing, templates and the outbox.

pub(crate) mod contact_groups;
pub(crate) mod email_recipients;
pub(crate) mod outbox;
pub(crate) mod overview;
pub(crate) mod push;
pub(crate) mod routing;
pub(crate) mod templates;
