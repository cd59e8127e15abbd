//! Documents of locations: JSON, NDJSON, GeoJSON, CSV, GPX and KML, all of them streamed.

mod answer;
mod csv;
mod digits;
mod field;
mod geojson;
mod gpx;
pub mod json;
mod kml;
mod negotiate;
mod simplify;
mod text;
mod track;
mod writer;

pub use answer::{Shape, Subject, answer_track, answer_track_after};
pub use field::{Field, Selection};
pub use negotiate::{Format, is_negotiated};
pub use writer::{Heading, Writer};

#[cfg(test)]
mod tests;
