//! Alerts and emergencies.

pub mod alert;
pub mod emergency;
pub mod severity;
pub mod sos_notice;
