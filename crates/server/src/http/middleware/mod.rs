//! Layers around every route: the frame that gives each answer its headers and each error its body,
//! and the rewriting of paths before they are routed.

mod cors;
mod frame;
mod path;
mod problem;
mod query;
mod shown;

pub use frame::{Framing, frame};
pub use path::CanonicalPaths;
pub use problem::{ProblemBody, TOKEN_PATH, TokenRefusal, nothing_here, refuse_unreadable};
pub use query::KnownParameters;
