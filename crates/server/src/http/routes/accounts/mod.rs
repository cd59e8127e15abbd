//! The account of the caller, its usage, and accounts as operators see them.

pub mod account;
pub mod logo;
pub mod operator;
pub mod usage;
