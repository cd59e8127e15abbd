//! Many locations of one device as bytes, column by column.
//!
//! A chunk is a version, a header ([`Summary`]), a directory of the columns that are there, the columns, and a
//! checksum of all that. A column belongs to one field; a field that no location has takes no byte. In a column come
//! first the answers to which locations have the field ([`presence`]), then the values of those that have it, as
//! numbers ([`numbers`]) or as texts ([`texts`]). Every attribute is a column of its own.
//!
//! Numbers are told in the coarsest unit that loses nothing, so that whole seconds and coordinates of five decimals
//! cost what they carry; in blocks of 128 they become what a forecast from the two numbers before missed by, and are
//! packed into as many bits as nearly all of a block need ([`frame`]).
//!
//! Every value read has at least a fixed share of the bytes: damaged bytes can be refused, never make a reader take
//! more memory than a fixed multiple of their length.

mod attribute;
mod bits;
mod field;
mod frame;
mod header;
mod numbers;
mod pack;
mod position;
mod presence;
mod reader;
mod row;
mod texts;

pub use header::{Summary, chunk_summary};
pub use pack::{pack_chunk, pack_points};
pub use position::{Position, Positions};
pub use reader::{ChunkReader, unpack_chunk};
pub use row::Rows;

/// Numbers that share a frame. The number is part of the format.
const BLOCK: usize = 128;

#[cfg(test)]
mod tests;
