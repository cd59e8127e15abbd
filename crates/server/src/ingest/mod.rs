//! From decoded messages to stored data: one path for listeners and for gateways over HTTP.
//!
//! The device is found by its identifiers, the message is stored in one commit with its locations, and only then may
//! the gateway acknowledge it. Unknown devices are remembered within limits until an account claims them.

mod admission;
mod commands;
mod contents;
mod decoding;
mod error;
mod feed;
mod feed_body;
mod feed_reports;
mod heard;
mod lookup;
mod networks;
mod page;
mod path;
mod preview;
mod reading;
mod sos;
mod store_contents;
mod stored;
mod strangers;
mod texts;
mod turns;
mod uploads;

pub use admission::Admission;
pub use commands::{Attachment, CommandTarget, DeviceCommands, NextCommand, Outgoing};
pub use contents::{frame_error, valid_files, valid_reports};
pub use decoding::{Decodings, DeviceDecoding, SelfReport};
pub use error::IngestError;
pub use feed::FeedArrival;
pub use feed_body::{FeedBody, FeedSettings};
pub use feed_reports::FeedReports;
pub use heard::UnknownDevice;
pub use lookup::DeviceLookup;
pub use networks::ReportNetworks;
pub use page::Page;
pub use path::{Arrival, Ingest, IngestSettings, ProtocolOptions};
pub use preview::{Pasted, PreviewBytes, PreviewRequest, preview_error};
pub use reading::Reader;
pub use sos::SosSign;
pub use stored::raw_quota::{RawLimits, RawQuota};
pub use stored::reprocess::Reprocessing;
pub use strangers::Strangers;
pub use texts::text_of_frame;
pub use turns::Turn;
pub use uploads::Uploads;
