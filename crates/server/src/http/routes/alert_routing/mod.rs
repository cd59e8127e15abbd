//! Where alerts go: set for a device, for a group, and for the rest of the account.

mod handler;
pub(super) mod input;
pub mod view;

pub use handler::*;
