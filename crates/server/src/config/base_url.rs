//! The public URL.

use url::Url;

use super::ConfigError;

/// The public URL. Links, the path of cookies and the API document are built from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseUrl {
    origin: String,
    prefix: String,
}

impl BaseUrl {
    /// Reads an `http` or `https` URL, with or without a path prefix.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let wrong = || ConfigError {
            key: "server.base_url",
            problem: format!(
                "\"{text}\" is not a URL such as https://track.example.com or https://example.com/track"
            ),
        };
        let url = Url::parse(text).map_err(|_detail| wrong())?;
        let plain = matches!(url.scheme(), "http" | "https")
            && url.has_host()
            && url.query().is_none()
            && url.fragment().is_none()
            && url.username().is_empty()
            && url.password().is_none();
        if !plain {
            return Err(wrong());
        }
        Ok(Self {
            origin: url.origin().ascii_serialization(),
            prefix: url.path().trim_end_matches('/').to_owned(),
        })
    }

    /// Scheme, host and port, as in a browser's `Origin` header.
    pub fn origin(&self) -> &str {
        &self.origin
    }

    /// The path prefix without a final slash; empty if there is none.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The URL of a path that begins with a slash.
    pub fn join(&self, path: &str) -> String {
        format!("{}{}{path}", self.origin, self.prefix)
    }

    /// Whether clients use TLS.
    pub fn is_secure(&self) -> bool {
        self.origin.starts_with("https:")
    }
}

impl std::fmt::Display for BaseUrl {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", self.origin, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_url_keeps_its_prefix() {
        let base = BaseUrl::parse("https://example.com/track/").unwrap();
        assert_eq!(base.join("/api/devices"), "https://example.com/track/api/devices");
        assert_eq!((base.origin(), base.prefix()), ("https://example.com", "/track"));
        assert_eq!(BaseUrl::parse("http://127.0.0.1:8080").unwrap().to_string(), "http://127.0.0.1:8080");
        for text in
            ["", "example.com", "ftp://example.com", "https://example.com/?a", "https://me@example.com"]
        {
            assert!(BaseUrl::parse(text).is_err(), "{text}");
        }
    }
}
