//! Request bodies: strict JSON, a quick way through what is ordinary, validation that reports every problem at once, and patches.

mod field;
mod fields;
mod hint;
mod instant;
mod local;
mod parse;
mod patch;
mod pointer;
mod scan;
mod value;

pub use field::Field;
pub use fields::{Fields, MapLimits};
pub use instant::read_instant;
pub use local::{When, read_when};
pub use parse::{MAX_DEPTH, MAX_VALUES, Parsed, Unread, parse_bounded, parse_strict, parse_strict_part};
pub use patch::{PatchProblem, apply_patch, apply_patch_at_once};
pub use pointer::{Pointer, Problem};
pub use scan::{Number, Scanner};
pub use value::{FromJson, Refusal, check_chars};
