//! Gateways of the account: addresses to which satellite networks and phones send messages.

pub(super) mod input;
pub mod read;
pub mod view;
pub mod write;
