//! Users, their privileges and credentials, and the audit log.

pub mod actor;
pub mod audit;
pub mod credential;
pub mod preference;
pub mod privilege;
pub mod user;
