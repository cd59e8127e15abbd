//! How the readings of a location, the locations of a commit and whole chunks of locations are packed into bytes:
//! small, one encoding for each value, and versioned.

mod batch;
mod bytes;
mod chunk;
mod measure;
mod readings;
mod value;

pub(crate) use batch::{BatchWriter, Glimpse, look_through};
pub use batch::{Point, unpack_batch};
pub use bytes::CodecError;
pub(crate) use bytes::Writer;
pub use chunk::{
    ChunkReader, Position, Positions, Rows, Summary, chunk_summary, pack_chunk, pack_points, unpack_chunk,
};
pub(crate) use readings::{may_carry_alerts, pack_all_readings};
pub use readings::{pack_readings, unpack_readings};
