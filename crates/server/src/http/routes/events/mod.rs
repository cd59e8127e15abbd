//! Events: what happened in an account, by polling and as a stream, each in one and the same form.

pub mod body;
pub mod list;
pub mod query;
pub mod stream;
pub mod view;
