//! The formats on disk: readings of a location, batches (the locations of one commit, or of one commit and device) and
//! chunks (many locations of one device). All are versioned, and canonical: equal values have equal bytes.

mod batch;
mod bytes;
mod chunk;
mod device_batch;
mod packed;
mod readings;

pub(crate) use batch::{BatchWriter, PointRef, scan_batch};
pub use batch::{Point, unpack_batch};
pub use bytes::CodecError;
pub(crate) use bytes::Writer;
pub use chunk::{
    ChunkReader, Position, Positions, Rows, Summary, chunk_summary, pack_chunk, pack_points, unpack_chunk,
};
pub(crate) use device_batch::{pack_device_batch, read_device_batch};
pub(crate) use readings::{may_carry_alerts, pack_all_readings};
pub use readings::{pack_readings, unpack_readings};
