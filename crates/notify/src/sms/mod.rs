//! SMS: segments, allowed countries, and sending by HTTP or SMPP.

mod allowed;
mod alphabet;
mod calling_code;
mod segment;

pub mod http;
pub mod smpp;

pub use allowed::{AllowedCountries, ParseAllowedError};
pub use segment::{Alphabet, Fitting, Segments, fit, segments};
