//! Locations as documents: JSON, one JSON object a line, GeoJSON, CSV, GPX and KML, each written while it is read.

mod answer;
mod choice;
mod csv;
mod digits;
mod field;
mod geojson;
mod gpx;
pub mod json;
mod kml;
mod simplify;
mod text;
mod track;
mod writer;

pub use answer::{Shape, Subject, answer_track, answer_track_after};
pub use choice::{Format, is_negotiated};
pub use field::{Field, Selection};
pub use writer::{Heading, Writer};

#[cfg(test)]
mod tests;
