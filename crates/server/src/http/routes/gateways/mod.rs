//! Gateways of the account: addresses to which satellite networks and phones send messages.

pub mod decode;
pub mod device_claims;
pub mod gateway_requests;
pub mod heard_devices;
pub(super) mod input;
pub mod raw_messages;
pub mod read;
pub mod view;
pub mod write;
