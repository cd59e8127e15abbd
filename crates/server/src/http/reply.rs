//! Successful answers: the envelope, and the headers of a resource.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use http::{HeaderName, HeaderValue, StatusCode, header};
use perigee_core::revision::Revision;
use serde::Serialize;
use utoipa::ToSchema;

use super::error::{ApiResult, internal};
use super::extract::entity_tag;
use crate::access::Usage;

/// Members that every JSON response begins with.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct Envelope {
    /// Always true in successful responses.
    success: bool,
    /// Number of API calls of the account since the API was activated.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_usage: Option<u64>,
    /// Number of API calls of the account on the current day, in the time zone of the account.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_daily_usage: Option<u64>,
}

impl Envelope {
    /// The envelope of a successful answer.
    pub fn of(usage: Option<Usage>) -> Self {
        Self {
            success: true,
            api_usage: usage.map(|usage| usage.total),
            api_daily_usage: usage.map(|usage| usage.today),
        }
    }
}

/// A response without members other than those of every response.
#[derive(Clone, Copy, Debug, Serialize, ToSchema)]
pub struct Done {}

/// A successful answer; it is written in the envelope, with the caller's use of the API.
#[derive(Debug)]
pub struct Reply<T> {
    status: StatusCode,
    usage: Option<Usage>,
    headers: Vec<(HeaderName, String)>,
    body: T,
}

/// The return type of most handlers.
pub type ApiReply<T> = ApiResult<Reply<T>>;

#[derive(Serialize)]
struct Enveloped<'a, T> {
    #[serde(flatten)]
    envelope: Envelope,
    #[serde(flatten)]
    body: &'a T,
}

/// The JSON of an answer: the envelope, then the members of `body`.
pub fn encode<T: Serialize>(usage: Option<Usage>, body: &T) -> Result<Vec<u8>, serde_json::Error> {
    serde_json::to_vec(&Enveloped { envelope: Envelope::of(usage), body })
}

impl<T: Serialize> Reply<T> {
    /// 200 with this body.
    pub fn new(usage: Option<Usage>, body: T) -> Self {
        Self { status: StatusCode::OK, usage, headers: Vec::new(), body }
    }

    /// The same answer with another status than 200.
    #[must_use]
    pub fn status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// The same answer as 201, with the `Location` of the new resource.
    #[must_use]
    pub fn created(self, address: String) -> Self {
        self.status(StatusCode::CREATED).header(header::LOCATION, address)
    }

    /// The same answer with the entity tag of this revision.
    #[must_use]
    pub fn revision(self, revision: Revision) -> Self {
        self.header(header::ETAG, entity_tag(revision))
    }

    /// The same answer with one more header.
    #[must_use]
    pub fn header(mut self, name: HeaderName, value: String) -> Self {
        self.headers.push((name, value));
        self
    }
}

impl<T: Serialize> IntoResponse for Reply<T> {
    fn into_response(self) -> Response {
        let bytes = match encode(self.usage, &self.body) {
            Ok(bytes) => bytes,
            Err(error) => return internal(error).into_response(),
        };
        let mut response = Response::new(Body::from(bytes));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        for (name, value) in self.headers {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.append(name, value);
            }
        }
        response
    }
}

/// 304: the client has this version already.
pub fn not_modified(tag: &str) -> Response {
    let mut response = StatusCode::NOT_MODIFIED.into_response();
    if let Ok(tag) = HeaderValue::from_str(tag) {
        response.headers_mut().insert(header::ETAG, tag);
    }
    response
}
