//! Alerts: what happened to devices.

pub mod alert_page;
pub(in crate::http) mod alert_page_text;
pub mod alert_recipients;
pub mod all;
pub mod input;
pub mod notes;
pub mod read;
pub mod view;
pub mod write;
