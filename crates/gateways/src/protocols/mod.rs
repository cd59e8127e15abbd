//! The protocols, a folder each.

pub mod gt06;
