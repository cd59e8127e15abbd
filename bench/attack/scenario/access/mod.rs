//! Attacks on sign-in.

pub(crate) mod sign_in;
pub(crate) mod sign_in_networks;
