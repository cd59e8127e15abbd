//! Reads files of locations item by item with constant memory, and keeps checkpoints of imports.

mod batch;
mod checkpoint;
mod column;
mod csv;
mod devices;
mod draft;
mod gpx;
mod item;
mod json;
mod kml;
mod ndjson;
mod xml;

pub(crate) use batch::{Batch, read_batches};
pub(crate) use checkpoint::Checkpoint;
pub(crate) use devices::{DevicePart, device_parts};
pub(crate) use item::{counts_lines, format_of};
