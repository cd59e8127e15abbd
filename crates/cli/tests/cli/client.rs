//! Just enough of an HTTP client: one request a connection, whole answers.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value;

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    /// Reads an answer that ends with its connection.
    pub(crate) fn read(stream: &mut TcpStream) -> Self {
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer in {text:?}"));
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Self { status, head: head.to_ascii_lowercase(), body: body.to_owned() }
    }

    /// The body, on condition that the answer has this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        assert_eq!(self.status, status, "{}", self.body);
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error} in {}", self.body))
    }
}

/// A connection to the server at this address.
pub(crate) fn connect(url: &str) -> TcpStream {
    let stream = TcpStream::connect(url.strip_prefix("http://").unwrap()).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
    stream
}

/// Sends a request such as `GET /healthz`, with a token and a JSON body if given.
pub(crate) fn send(url: &str, line: &str, token: Option<&str>, body: Option<&Value>) -> Answer {
    let body = body.map(Value::to_string).unwrap_or_default();
    let authorization = token.map(|token| format!("Authorization: Bearer {token}\r\n")).unwrap_or_default();
    let mut stream = connect(url);
    write!(
        stream,
        "{line} HTTP/1.1\r\nHost: test\r\nConnection: close\r\nContent-Type: application/json\r\n{authorization}Content-Length: {}\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    Answer::read(&mut stream)
}

/// A token for this key.
pub(crate) fn token(url: &str, email: &str, api_key: &Value) -> String {
    let body = serde_json::json!({ "userName": email, "apiKey": api_key });
    let answer = send(url, "POST /api/Auth/Token", None, Some(&body)).expect(200);
    answer["token"].as_str().unwrap().to_owned()
}
