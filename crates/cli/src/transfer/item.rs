//! The items of a file, whatever its format.

use std::io::{self, BufRead};
use std::path::Path;

use anyhow::Result;

use super::{csv, gpx, json, kml, ndjson};
use crate::args::FileFormat;

/// One item of a file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Item {
    /// Its line, or its number in formats without lines; from 1.
    pub(super) number: u64,
    /// The location as one line of JSON for the API, or why it is invalid.
    pub(super) body: Result<Vec<u8>, String>,
}

/// Receives items; an error stops reading.
pub(super) type Sink<'s> = dyn FnMut(Item) -> io::Result<()> + 's;

/// Reads a file of this format.
pub(super) fn read_items(format: FileFormat, input: impl BufRead, sink: &mut Sink<'_>) -> Result<()> {
    match format {
        FileFormat::Ndjson => ndjson::read(input, sink),
        FileFormat::Csv => csv::read(input, sink),
        FileFormat::Json | FileFormat::Geojson => json::read(input, sink),
        FileFormat::Gpx => gpx::read(input, sink),
        FileFormat::Kml => kml::read(input, sink),
    }
}

/// Whether items of this format are identified by line.
pub(crate) fn counts_lines(format: FileFormat) -> bool {
    !matches!(format, FileFormat::Json | FileFormat::Geojson)
}

/// The format by the file's extension.
pub(crate) fn format_of(path: &Path) -> Option<FileFormat> {
    match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
        "json" => Some(FileFormat::Json),
        "ndjson" | "jsonl" => Some(FileFormat::Ndjson),
        "geojson" => Some(FileFormat::Geojson),
        "csv" | "tsv" => Some(FileFormat::Csv),
        "gpx" => Some(FileFormat::Gpx),
        "kml" => Some(FileFormat::Kml),
        _ => None,
    }
}

#[cfg(test)]
pub(super) mod testing {
    use serde_json::Value;

    use super::*;

    /// The items of a text: number, and the location or the reason.
    pub(in crate::transfer) fn items(format: FileFormat, text: &str) -> Vec<(u64, Result<Value, String>)> {
        let mut found = Vec::new();
        read_items(format, text.as_bytes(), &mut |item| {
            let body = item.body.map(|body| serde_json::from_slice(&body).unwrap());
            found.push((item.number, body));
            Ok(())
        })
        .unwrap();
        found
    }
}
