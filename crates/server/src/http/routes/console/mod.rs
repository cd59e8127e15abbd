//! The console: the page and its files, what it must know before anybody signs in, and the operator's map tiles.

pub mod facts;
mod page;
mod policy;
pub mod tiles;

pub use page::{Console, get_console};
