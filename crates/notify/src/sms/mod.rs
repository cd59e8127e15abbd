//! Short messages: what they cost, whom they may reach, and the ways to a message centre.

mod allowed;
mod alphabet;
mod calling_code;
mod segment;

pub mod http;
pub mod smpp;

pub use allowed::{AllowedCountries, ParseAllowedError};
pub use segment::{Alphabet, Fitting, Segments, fit, segments};
