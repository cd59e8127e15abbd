//! Positions in words, such as "21 km SW of Vigo, Spain", from a gazetteer that is part of the program.
//!
//! [`describe`] is the only function that makes such words: answers of the API, exports, messages and pages call it.

mod gazetteer;
mod tree;
mod words;

pub use gazetteer::{FILE, Gazetteer, Near, Place, PlaceKind, gazetteer};
pub use words::{Form, Reader, describe};

#[cfg(test)]
mod tests;
