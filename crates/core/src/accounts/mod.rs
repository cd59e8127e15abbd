//! Accounts: their settings, licences, limits and retention.

pub mod account;
pub mod branding;
pub mod country;
pub mod license;
pub mod limits;
pub mod operator_notice;
pub mod retention;
pub mod standing;
