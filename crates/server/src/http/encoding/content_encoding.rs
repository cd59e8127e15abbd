//! The `Accept-Encoding` header (RFC 9110, section 12.5.3): which content encoding a file is sent in.

use http::{HeaderMap, HeaderValue, header};

use crate::http::accept::read_quality;

/// A content encoding. The order is the server's preference among encodings with equal quality values, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContentEncoding {
    /// `br` in headers: the smallest.
    Brotli,
    /// RFC 1952, `gzip` in the headers.
    Gzip,
    /// `identity` in `Accept-Encoding`; no `Content-Encoding` header.
    Plain,
}

impl ContentEncoding {
    /// The encodings that compress.
    pub const COMPRESSING: [Self; 2] = [Self::Brotli, Self::Gzip];

    /// The value of `Content-Encoding`; None for `identity`.
    pub const fn header(self) -> Option<HeaderValue> {
        match self {
            Self::Brotli => Some(HeaderValue::from_static("br")),
            Self::Gzip => Some(HeaderValue::from_static("gzip")),
            Self::Plain => None,
        }
    }

    /// The suffix of embedded files in this encoding.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
            Self::Plain => "",
        }
    }

    /// The suffix, inside the quotes, of entity tags of answers with this `Content-Encoding`.
    pub fn tag_suffix(name: &str) -> Option<&'static str> {
        match name {
            "br" => Some("-br"),
            "gzip" => Some("-gz"),
            _ => None,
        }
    }

    /// Whether a client refuses `identity`, by name or by `*`, with a quality of 0.
    pub fn refuses_plain(headers: &HeaderMap) -> bool {
        let given = given(headers);
        let named = |name: &str| given.iter().find(|(given, _)| given == name).map(|(_, quality)| *quality);
        named("identity").or_else(|| named("*")) == Some(0)
    }

    const fn name(self) -> &'static str {
        match self {
            Self::Brotli => "br",
            Self::Gzip => "gzip",
            Self::Plain => "identity",
        }
    }

    /// The encodings a client accepts, best first. Refused ones are left out, except `identity`: a client that
    /// refuses everything gets plain bytes instead of 406.
    pub fn accepted(headers: &HeaderMap) -> Vec<Self> {
        let given = given(headers);
        let quality = |encoding: Self| {
            let named =
                |name: &str| given.iter().find(|(given, _)| given == name).map(|(_, quality)| *quality);
            // `identity` is acceptable unless it is refused.
            named(encoding.name()).or_else(|| named("*")).unwrap_or(u16::from(encoding == Self::Plain))
        };
        let mut accepted = [Self::Brotli, Self::Gzip, Self::Plain];
        // The sort is stable, so equal qualities keep the server's order.
        accepted.sort_by_key(|encoding| std::cmp::Reverse(quality(*encoding)));
        accepted.into_iter().filter(|encoding| *encoding == Self::Plain || quality(*encoding) > 0).collect()
    }
}

fn given(headers: &HeaderMap) -> Vec<(String, u16)> {
    let values = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(',')).map(read).collect()
}

fn read(text: &str) -> (String, u16) {
    let mut parts = text.split(';').map(str::trim);
    let name = parts.next().unwrap_or_default().to_ascii_lowercase();
    let quality = parts.find_map(|parameter| {
        let (name, value) = parameter.split_once('=')?;
        name.trim().eq_ignore_ascii_case("q").then(|| read_quality(value.trim()))
    });
    (name, quality.unwrap_or(1_000))
}

#[cfg(test)]
mod tests {
    use super::*;
    use ContentEncoding::{Brotli, Gzip, Plain};

    #[test]
    fn accepted_encodings_are_sorted_by_quality() {
        let check = |accept: Option<&str>, expect: &[ContentEncoding]| {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(header::ACCEPT_ENCODING, accept.parse().unwrap());
            }
            assert_eq!(ContentEncoding::accepted(&headers), expect, "{accept:?}");
        };
        check(None, &[Plain]);
        check(Some(""), &[Plain]);
        check(Some("gzip, deflate, br, zstd"), &[Brotli, Gzip, Plain]);
        check(Some("GZIP"), &[Gzip, Plain]);
        check(Some("br;q=0.5, gzip;q=0.8"), &[Gzip, Brotli, Plain]);
        check(Some("br;q=0, gzip"), &[Gzip, Plain]);
        check(Some("gzip;q=0.2, identity;q=0.9"), &[Plain, Gzip]);
        check(Some("*"), &[Brotli, Gzip, Plain]);
        check(Some("*;q=0, gzip;q=0.1"), &[Gzip, Plain]);
        check(Some("br;q=0, *;q=0.3"), &[Gzip, Plain]);
        check(Some("identity;q=0"), &[Plain]);
    }
}
