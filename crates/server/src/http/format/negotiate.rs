//! Format negotiation: the query parameter `format`, else the `Accept` header.

use http::{HeaderMap, Method};
use utoipa::ToSchema;

use crate::http::accept::Accept;
use crate::http::error::{ApiError, ApiResult};
use crate::http::error_code::ErrorCode;
use crate::http::extract::Params;

/// Format of a list of locations. `json`: one JSON object with the locations in `locations`; the default. `ndjson`: one
/// JSON object per line and location. `geojson`: a feature collection with a point for each location. `csv`: a table with
/// one row for each location. `gpx`: a GPX 1.1 track, for navigation software. `kml`: a KML 2.3 document with placemarks,
/// for maps and globes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ToSchema)]
#[schema(as = LocationFormat, rename_all = "lowercase")]
pub enum Format {
    /// One JSON object with the locations in `locations`. This is the default.
    Json,
    /// NDJSON: one location per line, as a JSON object.
    NdJson,
    /// GeoJSON: a feature collection with a point for each location.
    GeoJson,
    /// CSV: a table with one row for each location.
    Csv,
    /// GPX 1.1: a track, for navigation software.
    Gpx,
    /// KML 2.3: a document with placemarks, for maps and globes.
    Kml,
}

/// Operations that answer in other formats than JSON, by method and route.
const NEGOTIATED: [(Method, &str); 3] = [
    (Method::GET, "/api/devices/{deviceId}/locations"),
    (Method::GET, "/api/stream"),
    (Method::POST, "/api/reports/run"),
];

/// Whether an operation evaluates `Accept` itself; every other one answers only JSON.
pub fn is_negotiated(method: &Method, route: &str) -> bool {
    NEGOTIATED.iter().any(|(known, path)| known == method && *path == route)
}

impl Format {
    /// Every format, in the order of preference among equal quality values.
    pub const ALL: [Self; 6] = [Self::Json, Self::NdJson, Self::GeoJson, Self::Csv, Self::Gpx, Self::Kml];

    /// The value of `format`, and the extension of files.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::NdJson => "ndjson",
            Self::GeoJson => "geojson",
            Self::Csv => "csv",
            Self::Gpx => "gpx",
            Self::Kml => "kml",
        }
    }

    /// The media types it is requested by, the registered or usual one first.
    pub const fn media_types(self) -> &'static [&'static str] {
        match self {
            Self::Json => &["application/json"],
            Self::NdJson => &["application/x-ndjson", "application/ndjson", "application/jsonl"],
            Self::GeoJson => &["application/geo+json", "application/vnd.geo+json"],
            Self::Csv => &["text/csv"],
            Self::Gpx => &["application/gpx+xml"],
            Self::Kml => &["application/vnd.google-earth.kml+xml"],
        }
    }

    /// The `Content-Type` of answers.
    pub const fn content_type(self) -> &'static str {
        match self {
            Self::Json => "application/json",
            Self::NdJson => "application/x-ndjson",
            Self::GeoJson => "application/geo+json",
            Self::Csv => "text/csv; charset=utf-8; header=present",
            Self::Gpx => "application/gpx+xml",
            Self::Kml => "application/vnd.google-earth.kml+xml",
        }
    }

    /// Whether the query parameter `fields` applies; the other formats have a fixed structure.
    pub const fn has_fields(self) -> bool {
        matches!(self, Self::Json | Self::NdJson | Self::Csv)
    }

    /// Reads `format` from a query, or evaluates `Accept`. An unknown format is reported with the query's other
    /// problems.
    pub fn choose(params: &mut Params, headers: &HeaderMap) -> ApiResult<Self> {
        if params.has("format") {
            let named = params.word("format", &Self::ALL.map(|format| (format.name(), format)));
            return Ok(named.unwrap_or(Self::Json));
        }
        let accept = Accept::of(headers);
        let mut best = None;
        for format in Self::ALL {
            let quality = format.media_types().iter().map(|media| accept.quality(media)).max().unwrap_or(0);
            if quality > best.map_or(0, |(quality, _)| quality) {
                best = Some((quality, format));
            }
        }
        best.map(|(_, format)| format).ok_or_else(|| {
            let types: Vec<&str> =
                Self::ALL.iter().filter_map(|format| format.media_types().first()).copied().collect();
            let message = format!(
                "None of the media types in Accept is available here. Send one of {}, or use \"?format=\".",
                types.join(", ")
            );
            ApiError::new(ErrorCode::NotAcceptable, message)
        })
    }
}

#[cfg(test)]
mod tests {
    use http::header;

    use super::*;

    fn chosen(accept: &str) -> Option<Format> {
        let mut headers = HeaderMap::new();
        headers.insert(header::ACCEPT, accept.parse().unwrap());
        Format::choose(&mut Params::empty(), &headers).ok()
    }

    #[test]
    fn the_format_with_the_highest_quality_is_chosen() {
        assert_eq!(chosen("*/*"), Some(Format::Json));
        assert_eq!(chosen("application/*"), Some(Format::Json));
        assert_eq!(chosen("text/*"), Some(Format::Csv));
        assert_eq!(chosen("text/csv, application/json;q=0.9"), Some(Format::Csv));
        assert_eq!(chosen("text/csv;q=0.5, application/json;q=0.9"), Some(Format::Json));
        assert_eq!(chosen("application/gpx+xml"), Some(Format::Gpx));
        assert_eq!(chosen("application/vnd.google-earth.kml+xml, */*;q=0.1"), Some(Format::Kml));
        assert_eq!(chosen("Application/Geo+JSON"), Some(Format::GeoJson));
        assert_eq!(chosen("application/ndjson"), Some(Format::NdJson));
        assert_eq!(chosen("application/json;q=0, */*"), Some(Format::NdJson));
        assert_eq!(chosen("text/html, application/xml"), None);
        assert_eq!(chosen("text/csv;q=0"), None);
        assert_eq!(Format::choose(&mut Params::empty(), &HeaderMap::new()).ok(), Some(Format::Json));
    }
}
