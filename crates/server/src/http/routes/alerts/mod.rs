//! Alerts: what happened to devices.

pub mod all;
pub mod input;
pub mod notes;
pub mod read;
pub mod view;
pub mod write;
