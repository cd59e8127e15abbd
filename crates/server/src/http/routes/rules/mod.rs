//! Rules, which raise alerts.

pub mod condition;
pub mod handlers;
pub mod replay;
pub mod view;
