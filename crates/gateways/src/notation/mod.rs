//! How trackers and providers write values: bits, dates, numbers, forms, JSON and XML.

pub mod bits;
pub mod calendar;
pub mod checksum;
pub mod fields;
pub mod form;
pub(crate) mod hex;
pub mod instant;
pub(crate) mod jwt;
pub mod loose;
pub mod number;
pub mod reader;
pub mod xml;
