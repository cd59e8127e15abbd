//! Requests as they are stored in raw messages, without their secrets.

use std::fmt::Write as _;

use perigee_gateways::FeedRequest;

/// Headers that are part of a message. Others may contain secrets and are not stored.
const STORED_HEADERS: [&str; 4] = ["content-type", "user-agent", "x-limit-u", "x-limit-d"];

/// The request as it is stored: its first line, the relevant headers, an empty line, and the body.
pub(in crate::ingest) fn stored_request(request: &FeedRequest<'_>) -> Vec<u8> {
    let mut text = format!("{} ?{}\n", request.method, request.query);
    for (name, value) in request.headers.iter().filter(|(name, _)| STORED_HEADERS.contains(name)) {
        // Writing to a `String` never fails.
        let _ = writeln!(text, "{name}: {value}");
    }
    text.push('\n');
    [text.as_bytes(), request.body].concat()
}

/// A request as it was stored, read back.
pub(in crate::ingest) struct StoredRequest<'a> {
    method: &'a str,
    query: &'a str,
    headers: Vec<(&'a str, &'a str)>,
    body: &'a [u8],
}

impl<'a> StoredRequest<'a> {
    /// Reads what [`stored_request`] wrote.
    pub(in crate::ingest) fn parse(bytes: &'a [u8]) -> Option<Self> {
        let end = bytes.windows(2).position(|pair| pair == b"\n\n")?;
        let mut lines = std::str::from_utf8(bytes.get(..end)?).ok()?.lines();
        let (method, query) = lines.next()?.split_once(" ?")?;
        let headers = lines.filter_map(|line| line.split_once(": ")).collect();
        Some(Self { method, query, headers, body: bytes.get(end + 2..)? })
    }

    /// The request as a feed reads it.
    pub(in crate::ingest) fn request(&self) -> FeedRequest<'_> {
        FeedRequest { method: self.method, query: self.query, headers: &self.headers, body: self.body }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stored_request_is_read_back_without_its_secrets() {
        let headers =
            [("content-type", "text/plain"), ("authorization", "Bearer secret"), ("x-limit-u", "ana")];
        for body in [b"".as_slice(), b"\n\n\xff", b"a: b\n\nc"] {
            let request = FeedRequest { method: "POST", query: "id=1&lat=2", headers: &headers, body };
            let stored = stored_request(&request);
            assert!(!String::from_utf8_lossy(&stored).contains("secret"));
            let parsed = StoredRequest::parse(&stored).unwrap();
            let read = parsed.request();
            assert_eq!((read.method, read.query, read.body), ("POST", "id=1&lat=2", body));
            assert_eq!(
                (read.header("content-type"), read.header("x-limit-u")),
                (Some("text/plain"), Some("ana"))
            );
        }
        assert!(StoredRequest::parse(b"rubbish").is_none());
    }
}
