//! Who may do what: users, their privileges and credentials, and the record of what they did.

pub mod actor;
pub mod audit;
pub mod credential;
pub mod preference;
pub mod privilege;
pub mod user;
