//! In which coding a file is sent: what the client likes best of what there is (RFC 9110, section 12.5.3).

use http::{HeaderMap, HeaderValue, header};

use super::accept::read_quality;

/// How the bytes of a file are coded. In the order of preference, best first, among equals.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Coding {
    /// `br`.
    Brotli,
    /// `gzip`.
    Gzip,
    /// As they are.
    Plain,
}

impl Coding {
    /// Those that make a file smaller.
    pub const SMALL: [Self; 2] = [Self::Brotli, Self::Gzip];

    /// Its name in headers; none when there is nothing to say.
    pub const fn header(self) -> Option<HeaderValue> {
        match self {
            Self::Brotli => Some(HeaderValue::from_static("br")),
            Self::Gzip => Some(HeaderValue::from_static("gzip")),
            Self::Plain => None,
        }
    }

    /// What the names of files so coded end in.
    pub const fn suffix(self) -> &'static str {
        match self {
            Self::Brotli => ".br",
            Self::Gzip => ".gz",
            Self::Plain => "",
        }
    }

    /// What entity tags of answers in this coding, by its name in headers, end in before the quotation mark.
    pub fn tag_suffix(name: &str) -> Option<&'static str> {
        match name {
            "br" => Some("-br"),
            "gzip" => Some("-gz"),
            _ => None,
        }
    }

    /// Whether a client refuses plain bytes, by name or with everything else.
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

    /// The codings a client takes, best first. What it refuses is left out, but for plain bytes: whoever refuses even
    /// these gets them all the same, rather than nothing.
    pub fn taken(headers: &HeaderMap) -> Vec<Self> {
        let given = given(headers);
        let quality = |coding: Self| {
            let named =
                |name: &str| given.iter().find(|(given, _)| given == name).map(|(_, quality)| *quality);
            // Plain bytes are taken unless they are refused.
            named(coding.name()).or_else(|| named("*")).unwrap_or(u16::from(coding == Self::Plain))
        };
        let mut taken = [Self::Brotli, Self::Gzip, Self::Plain];
        // A stable sort: equals stay in our own order.
        taken.sort_by_key(|coding| std::cmp::Reverse(quality(*coding)));
        taken.into_iter().filter(|coding| *coding == Self::Plain || quality(*coding) > 0).collect()
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
    use Coding::{Brotli, Gzip, Plain};

    #[test]
    fn takes_what_is_liked_best() {
        let check = |accept: Option<&str>, expect: &[Coding]| {
            let mut headers = HeaderMap::new();
            if let Some(accept) = accept {
                headers.insert(header::ACCEPT_ENCODING, accept.parse().unwrap());
            }
            assert_eq!(Coding::taken(&headers), expect, "{accept:?}");
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
