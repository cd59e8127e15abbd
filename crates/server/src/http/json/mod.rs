//! JSON of requests: a strict parser, a scanner for the fast path, validation that reports all problems at once, and
//! patches.

mod field;
mod fields;
mod hint;
mod instant;
mod instant_forms;
mod parse;
mod patch;
mod pointer;
mod scan;
mod value;

pub use field::Field;
pub use fields::{Fields, MapLimits};
pub use instant::read_instant;
pub use instant_forms::{InstantOrNever, read_instant_or_never};
pub use parse::{MAX_DEPTH, MAX_VALUES, Parsed, Unread, parse_bounded, parse_strict, parse_strict_part};
pub use patch::{OPERATIONS, OPERATIONS_MAX, PatchProblem, apply_patch, apply_patch_at_once};
pub use pointer::{Pointer, Problem};
pub use scan::{Number, Scanner};
pub use value::{FromJson, Refusal, check_chars};
