//! Replaces the answers that the HTTP engine itself gives to requests that it cannot read. Such an answer has a status
//! and no body; it is found among the bytes that the engine writes.

use bytes::{BufMut as _, Bytes, BytesMut};
use http::StatusCode;

use super::config::UnreadableAnswer;

/// More bytes than the engine's own answers have.
const LONGEST: usize = 256;
/// The only headers of the engine's own answers.
const HEADERS: [&str; 3] = ["connection", "content-length", "date"];

/// The offset and the status of an answer of the engine's own at the end of the written bytes.
pub(super) fn find_bare(written: &[u8]) -> Option<(usize, StatusCode)> {
    // A quick test: an answer without a body ends with its head.
    if !written.ends_with(b"\r\n\r\n") {
        return None;
    }
    let from = written.len().saturating_sub(LONGEST);
    let tail = written.get(from..)?;
    let at = tail.windows(9).rposition(|part| part == b"HTTP/1.1 ")?;
    let head = std::str::from_utf8(tail.get(at..)?).ok()?;
    let mut lines = head.split("\r\n");
    let status = StatusCode::from_bytes(lines.next()?.get(9..12)?.as_bytes()).ok()?;
    let is_own = |line: &str| {
        let name = line.split(':').next().unwrap_or_default();
        line.is_empty() || HEADERS.iter().any(|own| name.eq_ignore_ascii_case(own))
    };
    let is_refusal = matches!(
        status,
        StatusCode::BAD_REQUEST | StatusCode::URI_TOO_LONG | StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE
    );
    (is_refusal && lines.all(is_own)).then_some((from + at, status))
}

/// The whole answer to write instead.
pub(super) fn answer_instead(make: UnreadableAnswer, status: StatusCode) -> Bytes {
    let answer = make(status);
    let mut bytes = BytesMut::with_capacity(1024);
    bytes.put_slice(format!("HTTP/1.1 {}\r\n", answer.status()).as_bytes());
    for (name, value) in answer.headers() {
        bytes.put_slice(name.as_str().as_bytes());
        bytes.put_slice(b": ");
        bytes.put_slice(value.as_bytes());
        bytes.put_slice(b"\r\n");
    }
    let length = answer.body().len();
    bytes.put_slice(format!("connection: close\r\ncontent-length: {length}\r\n\r\n").as_bytes());
    bytes.put_slice(answer.body());
    bytes.freeze()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_engines_own_answers_are_found() {
        const BARE: &str = "HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\n\
                            content-length: 0\r\ndate: Thu, 01 Jan 2026 00:00:00 GMT\r\n\r\n";
        let found = |text: &str| find_bare(text.as_bytes()).map(|(at, status)| (at, status.as_u16()));
        assert_eq!(found(BARE), Some((0, 431)));
        assert_eq!(found(&format!("{{\"a\":1}}{BARE}")), Some((7, 431)));
        assert_eq!(found(&BARE.replace("431", "400")), Some((0, 400)));
        assert_eq!(found(&BARE.replace("431", "404")), None);
        assert_eq!(found(&BARE.replace("date:", "x-request-id: req_1\r\ndate:")), None);
        assert_eq!(found(&format!("{BARE}x")), None);
        assert_eq!(found(&format!("{BARE}body\r\n\r\n")), None);
        assert_eq!(found("\r\n\r\n"), None);
        assert_eq!(found(""), None);
    }
}
