//! A chunk: many locations of one device as bytes, column by column.
//!
//! A chunk is a version, a header ([`Summary`]), a directory of its columns, the columns, and a checksum. A column
//! holds one field; a field that no location has takes no byte. A column begins with a flag for each location that
//! says whether it has the field ([`presence`]), followed by the values, as numbers ([`numbers`]) or as byte strings
//! ([`texts`]). Each attribute has its own columns.
//!
//! Numbers are divided by their greatest common divisor, so that whole seconds and coordinates of five decimals take no
//! more bits than they need. Blocks of 128 numbers are stored as the errors of a prediction from the two numbers
//! before, bit-packed to the width that nearly all of the block need ([`frame`]).
//!
//! The memory that a reader takes is bounded by a multiple of the length of the bytes, also when they are damaged.

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

/// Numbers in a block. Part of the format.
const BLOCK: usize = 128;

#[cfg(test)]
mod tests;
