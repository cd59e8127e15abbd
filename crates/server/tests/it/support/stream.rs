//! Streams of events as a client reads them, message by message.

use axum::body::Body;
use http::{Request, header};
use http_body_util::BodyExt as _;
use serde_json::Value;
use tower::ServiceExt as _;

use super::{Person, TestApp};

pub(crate) struct Stream {
    body: Body,
    text: String,
}

/// A message of a stream: the cursor it moves the client to, and the event, if it carries one.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) id: Option<String>,
    pub(crate) event: Option<Value>,
    pub(crate) text: String,
}

impl TestApp {
    /// Opens a stream that must be granted.
    pub(crate) async fn stream(&self, person: &Person, path: &str, last: Option<&str>) -> Stream {
        let mut request = Request::get(path)
            .header(header::AUTHORIZATION, format!("Bearer {}", person.token))
            .header(header::ACCEPT, "text/event-stream");
        if let Some(last) = last {
            request = request.header("Last-Event-ID", last);
        }
        let answer = self.router.clone().oneshot(request.body(Body::empty()).unwrap()).await.unwrap();
        assert_eq!(answer.status(), 200);
        assert_eq!(answer.headers()[header::CONTENT_TYPE], "text/event-stream");
        Stream { body: answer.into_body(), text: String::new() }
    }
}

impl Stream {
    /// The next message; none if the stream is over.
    pub(crate) async fn message(&mut self) -> Option<Message> {
        loop {
            if let Some(end) = self.text.find("\n\n") {
                let message = read_message(&self.text[..end]);
                self.text.drain(..end + 2);
                return Some(message);
            }
            let frame = self.body.frame().await?.expect("the stream does not break");
            self.text.push_str(std::str::from_utf8(frame.data_ref().expect("data")).expect("text"));
        }
    }

    /// Waits for the next event.
    pub(crate) async fn event(&mut self) -> Value {
        loop {
            let message = self.message().await.expect("the stream goes on");
            if let Some(event) = message.event {
                assert_eq!(message.id.as_deref(), event["id"].as_str(), "a message is named as its event");
                return event;
            }
        }
    }

    /// Reads to the end, which must come; returns the last message.
    pub(crate) async fn end(&mut self) -> Option<Message> {
        let mut last = None;
        while let Some(message) = self.message().await {
            last = Some(message);
        }
        last
    }
}

/// Reads a message as a browser does.
pub(crate) fn read_message(text: &str) -> Message {
    let field = |name: &str| text.lines().find_map(|line| line.strip_prefix(name)).map(str::to_owned);
    let event = field("data: ").map(|data| serde_json::from_str(&data).expect("data is JSON"));
    Message { id: field("id: "), event, text: text.to_owned() }
}
