//! JSON mappings: a description of where a webhook's body has the parts of a message.
//!
//! Paths are JSON pointers (RFC 6901) from the current item: `/location/lat`. Each leading `^` goes one item up, so that
//! events in a list can name the device beside the list: `^/device/serial`.
//!
//! ```json
//! {"each": ["/payloads", "/events"], "when": {"path": "/type", "equals": "Location"},
//!  "identifiers": ["^/device/serial"], "key": ["^^/requestId", "/timestamp"],
//!  "fields": {"latitude": "/latitude", "longitude": "/longitude", "time": "/timestamp",
//!             "speed": {"path": "/speed", "unit": "m/s"}}}
//! ```

mod apply;
mod parse;
mod part;
#[cfg(test)]
mod tests;

pub use part::{Condition, Encoding, Mapping, Path, Source, Step, Test};
