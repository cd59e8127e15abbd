//! The `Accept` header (RFC 9110, section 12.5.1).

use http::{HeaderMap, header};

/// The media ranges of a request with their quality values.
#[derive(Debug)]
pub struct Accept(Option<Vec<Range>>);

#[derive(Debug)]
struct Range {
    media: String,
    /// Quality value in thousandths, 0 to 1000.
    quality: u16,
}

impl Accept {
    /// Reads the headers of a request. Without any, everything is accepted.
    pub fn of(headers: &HeaderMap) -> Self {
        let mut given = headers.get_all(header::ACCEPT).iter().peekable();
        if given.peek().is_none() {
            return Self(None);
        }
        let ranges = given.filter_map(|value| value.to_str().ok()).flat_map(|value| value.split(','));
        Self(Some(ranges.map(Range::read).collect()))
    }

    /// The quality value of a media type in thousandths; 0 means not acceptable. The most specific matching range
    /// decides.
    pub fn quality(&self, media: &str) -> u16 {
        let Some(ranges) = &self.0 else { return 1_000 };
        let fitting = ranges
            .iter()
            .filter_map(|range| range.specificity(media).map(|specificity| (specificity, range.quality)));
        fitting.max().map_or(0, |(_, quality)| quality)
    }
}

impl Range {
    fn read(text: &str) -> Self {
        let mut parts = text.split(';').map(str::trim);
        let media = parts.next().unwrap_or_default().to_ascii_lowercase();
        let quality = parts.find_map(|parameter| {
            let (name, value) = parameter.split_once('=')?;
            name.trim().eq_ignore_ascii_case("q").then(|| read_quality(value.trim()))
        });
        Self { media, quality: quality.unwrap_or(1_000) }
    }

    /// How specific this range is for a media type, or None if it does not match.
    fn specificity(&self, media: &str) -> Option<u8> {
        match self.media.split_once('/')? {
            _ if self.media == media => Some(2),
            (kind, "*") if media.split_once('/').is_some_and(|(own, _)| own == kind) => Some(1),
            ("*", "*") => Some(0),
            _ => None,
        }
    }
}

/// Reads a quality value; one that cannot be parsed counts as 1, the default.
pub(super) fn read_quality(text: &str) -> u16 {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let valid = decimals.len() <= 3 && decimals.bytes().all(|digit| digit.is_ascii_digit());
    match whole {
        "0" if valid => format!("{decimals:0<3}").parse().unwrap_or(1_000),
        _ => 1_000,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_accept() {
        let check = |accept: &str, expect: u16| {
            let mut headers = HeaderMap::new();
            headers.insert(header::ACCEPT, accept.parse().unwrap());
            assert_eq!(Accept::of(&headers).quality("application/json"), expect, "{accept}");
        };
        check("application/json", 1_000);
        check("text/html, */*;q=0.1", 100);
        check("APPLICATION/*", 1_000);
        check("application/*;q=0.25, */*", 250);
        check("*/*, application/json;q=0.5", 500);
        check("application/json ; charset=utf-8; Q = 0.333", 333);
        check("application/json;q=much", 1_000);
        check("text/html", 0);
        check("", 0);
        check("application/json;q=0", 0);
        check("application/json;q=0, */*", 0);
        check("application/json; q = 0.000, text/plain", 0);
        assert_eq!(Accept::of(&HeaderMap::new()).quality("application/json"), 1_000);
    }
}
