//! Events of an account, by polling and as a stream.

pub mod body;
pub mod list;
pub mod query;
pub mod stream;
pub mod view;
