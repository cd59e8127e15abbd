//! The events of an account.

pub mod event;
