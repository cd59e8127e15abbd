//! The HTTP side: routes, what they take and give, and the layers around them.

pub mod accept;
pub mod code;
pub mod coding;
pub mod compress;
pub mod context;
pub mod cursor;
pub mod decimal;
pub mod document;
pub mod edit;
pub mod embedded;
pub mod error;
pub mod extract;
pub mod format;
pub mod history;
pub mod json;
pub mod limit;
pub mod list;
pub mod middleware;
pub mod names;
pub mod packed;
pub mod parts;
pub mod reply;
pub mod router;
pub mod routes;
pub mod schedule;
pub mod submission;
