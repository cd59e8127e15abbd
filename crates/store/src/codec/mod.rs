//! How the readings of a location, and whole chunks of locations, are packed into bytes: small, one encoding for each
//! value, and versioned.

mod bytes;
mod chunk;
mod readings;

pub use bytes::CodecError;
pub(crate) use bytes::Writer;
pub use chunk::{ChunkReader, Position, Positions, Rows, Summary, chunk_summary, pack_chunk, unpack_chunk};
pub use readings::{pack_readings, unpack_readings};
