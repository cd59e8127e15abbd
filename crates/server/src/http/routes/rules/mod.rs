//! Rules: what raises alerts, and of whom.

pub mod condition;
pub mod handlers;
pub mod replay;
pub mod view;
