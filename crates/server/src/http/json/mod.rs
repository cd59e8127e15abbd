//! Request bodies: strict JSON, validation that reports every problem at once, and patches.

mod field;
mod fields;
mod hint;
mod parse;
mod patch;
mod pointer;
mod value;

pub use field::Field;
pub use fields::{Fields, MapLimits};
pub use parse::{MAX_DEPTH, parse_strict};
pub use patch::{PatchProblem, apply_patch};
pub use pointer::{Pointer, Problem};
pub use value::{FromJson, Refusal, check_chars};
