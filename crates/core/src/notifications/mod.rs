//! Notifications: who receives them, by which channel, and when.

pub mod contact;
pub mod escalation;
pub mod notification;
pub mod overview;
pub mod phone;
pub mod push;
pub mod routing;
