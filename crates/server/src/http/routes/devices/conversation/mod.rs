//! Conversations with devices: texts in both directions, and the links by which they are sent.

mod links;
pub mod read;
pub mod view;
pub mod write;

pub(in crate::http::routes) use links::links_in;
