//! The console: its page and files, what it needs before sign-in, the bundled map,
//! and the operator's map tiles.

pub mod bundled;
pub mod facts;
pub mod layers;
mod page;
mod policy;
pub mod tiles;

pub use page::{Console, get_console};
