//! Layers around every route: the outermost one, which adds headers and error bodies, and the normalisation of paths
//! before routing.

mod cors;
mod frame;
mod path;
mod problem;
mod query;
mod redact;

pub use frame::{Framing, frame};
pub use path::CanonicalPaths;
pub use problem::{ProblemBody, TOKEN_PATH, TokenRefusal, nothing_here, refuse_unreadable};
pub use query::KnownOperations;
