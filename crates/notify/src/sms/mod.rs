//! Short messages: what they cost, whom they may reach, and the ways to a message centre.

mod alphabet;
mod calling_code;
mod number;
mod segment;

pub mod http;
pub mod smpp;

pub use number::{AllowedCountries, ParseAllowedError, ParseNumberError, PhoneNumber};
pub use segment::{Alphabet, Fitting, Segments, fit, segments};
