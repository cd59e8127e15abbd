//! Share links.

pub mod share;
