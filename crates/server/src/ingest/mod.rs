//! From what gateways decoded to what is stored: one path for listeners and for gateways over HTTP.
//!
//! The device is found by its identifiers, the message is stored in one commit with its locations, and only then may the
//! gateway acknowledge it. Devices that nobody knows are remembered here, in bounds, until somebody claims them.

mod commands;
mod contents;
mod decoding;
mod error;
mod feed;
mod feed_body;
mod feed_reports;
mod heard;
mod missing_alerts;
mod page;
mod path;
mod preview;
mod raw_quota;
mod reading;
mod replay;
mod reprocess;
mod sos;
mod store_contents;
mod stored_request;
mod turns;
mod uploads;

pub use commands::{Attachment, CommandTarget, NextCommand, Outgoing};
pub use contents::{frame_error, valid_files, valid_reports};
pub use decoding::{DeviceDecoding, Told};
pub use error::IngestError;
pub use feed::FeedArrival;
pub use feed_body::{FeedBody, FeedSettings};
pub use heard::UnknownDevice;
pub use page::Page;
pub use path::{Arrival, Ingest, IngestSettings};
pub use preview::{Pasted, PreviewBytes, PreviewRequest, preview_error};
pub use raw_quota::RawLimits;
pub use sos::SosSign;
pub use turns::Turn;
pub use uploads::Uploads;
