//! From what gateways decoded to what is stored: one path for listeners and for gateways over HTTP.
//!
//! The device is found by its identifiers, the message is stored in one commit with its locations, and only then may the
//! gateway acknowledge it. Devices that nobody knows are remembered here, in bounds, until somebody claims them.

mod commands;
mod contents;
mod feed;
mod heard;
mod path;
mod replay;
mod reprocess;
mod sos;

pub use commands::{Attachment, Outgoing, Speech};
pub use contents::believed;
pub use feed::FeedArrival;
pub use heard::Stranger;
pub use path::{Arrival, Ingest};
