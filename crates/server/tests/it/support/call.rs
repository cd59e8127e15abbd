//! Requests and their responses.

use std::net::IpAddr;

use axum::Router;
use axum::body::Body;
use axum::response::Response;
use http::{HeaderMap, Method, Request, StatusCode, header};
use http_body_util::BodyExt;
use perigee_server::serve::ClientAddress;
use serde_json::Value;
use tower::ServiceExt;

use super::{Person, TestApp};

/// A request being combined.
pub(crate) struct Call {
    router: Router,
    request: http::request::Builder,
    body: Body,
}

#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl TestApp {
    /// A request to be sent, for example `app.call("GET /api/groups")`.
    pub(crate) fn call(&self, line: &str) -> Call {
        call(&self.router, line)
    }
}

/// A request to be sent to another node.
pub(crate) fn call(router: &Router, line: &str) -> Call {
    let (method, path) = line.split_once(' ').expect("a method and a path");
    let method: Method = method.parse().expect("a method");
    Call { router: router.clone(), request: Request::builder().method(method).uri(path), body: Body::empty() }
}

impl Call {
    /// Sent by this person.
    pub(crate) fn by(self, person: &Person) -> Self {
        self.header(header::AUTHORIZATION.as_str(), &format!("Bearer {}", person.token))
    }

    /// Sent from this address.
    pub(crate) fn from(self, address: &str) -> Self {
        let address: IpAddr = address.parse().expect("an address");
        self.extension(ClientAddress(address))
    }

    /// With something a layer further out would have found out.
    pub(crate) fn extension<T: Clone + Send + Sync + 'static>(mut self, extension: T) -> Self {
        self.request = self.request.extension(extension);
        self
    }

    /// Sent with the cookie of this session.
    pub(crate) fn cookie(self, session: &str) -> Self {
        self.header(header::COOKIE.as_str(), session)
    }

    pub(crate) fn header(mut self, name: &str, value: &str) -> Self {
        self.request = self.request.header(name, value);
        self
    }

    /// With a JSON body.
    pub(crate) fn json(self, body: &Value) -> Self {
        self.body("application/json", body.to_string())
    }

    pub(crate) fn body(self, content_type: &str, body: impl Into<Body>) -> Self {
        let mut call = self.header(header::CONTENT_TYPE.as_str(), content_type);
        call.body = body.into();
        call
    }

    /// Sends it, and leaves the body of the answer unread.
    pub(crate) async fn begin(self) -> Response {
        let request = self.request.body(self.body).expect("a request");
        self.router.oneshot(request).await.expect("the router always answers")
    }

    pub(crate) async fn send(self) -> Answer {
        let (parts, body) = self.begin().await.into_parts();
        let body = body.collect().await.expect("the body comes whole").to_bytes().to_vec();
        Answer { status: parts.status, headers: parts.headers, body }
    }
}

impl Answer {
    /// The body as JSON.
    #[track_caller]
    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error} in {}", String::from_utf8_lossy(&self.body)))
    }

    /// A header as text; empty if it is not there.
    pub(crate) fn header(&self, name: &str) -> &str {
        self.headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default()
    }

    /// The body, on condition that the answer has this status.
    #[track_caller]
    pub(crate) fn expect(&self, status: u16) -> Value {
        let text = String::from_utf8_lossy(&self.body);
        assert_eq!(self.status.as_u16(), status, "{text}");
        if self.body.is_empty() { Value::Null } else { self.json() }
    }

    /// Asserts that the answer is this error, in the form all errors have.
    #[track_caller]
    pub(crate) fn expect_error(&self, status: u16, code: &str) -> Value {
        let body = self.expect(status);
        assert_eq!(body["code"], code, "{body}");
        assert_eq!(body["success"], false, "{body}");
        assert_eq!(body["error"], body["detail"], "{body}");
        assert_eq!(body["status"], status, "{body}");
        assert_eq!(body["instance"], self.header("x-request-id"), "{body}");
        assert_eq!(self.header("content-type"), "application/problem+json");
        body
    }
}
