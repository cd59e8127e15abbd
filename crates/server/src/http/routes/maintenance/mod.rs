//! Maintenance plans of devices, and records of what was done.

pub mod done;
pub mod handlers;
mod input;
mod view;
