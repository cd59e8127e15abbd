//! The body of errors: `success` and `error` of the original API, and the members of RFC 9457.

use axum::body::Body;
use axum::response::Response;
use bytes::Bytes;
use http::{Extensions, HeaderValue, StatusCode, header};
use serde::Serialize;
use utoipa::ToSchema;

use crate::http::context::RequestContext;
use crate::http::error::ApiError;
use crate::http::error_code::ErrorCode;
use crate::http::json::Problem;

/// The body of every error, with the members of RFC 9457.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Problem)]
pub struct ProblemBody<'a> {
    /// Always false in errors.
    #[schema(example = false)]
    success: bool,
    /// Sentence in English for people that says what is wrong and what to do next.
    #[schema(example = "The device does not exist, or you may not see it. Check the ID.")]
    error: &'a str,
    /// URN of the error code.
    #[serde(rename = "type")]
    #[schema(example = "urn:perigee:problem:not-found")]
    kind: String,
    /// Short title of the error. It is the same for every error with this code.
    #[schema(example = "Not found")]
    title: &'static str,
    /// HTTP status of the response.
    #[schema(example = 404, minimum = 400, maximum = 599)]
    status: u16,
    /// The same text as `error`.
    detail: &'a str,
    /// Unique identifier of the request, as in the header `X-Request-Id` and in the log of the server.
    #[schema(example = "req_0f3a9c2d4b5e6f708192a3b4")]
    instance: &'a str,
    /// Error code for programs. It does not change between versions.
    #[schema(example = "not-found")]
    code: &'static str,
    /// Problems of the body or of the parameters, each with the `pointer` of the member. Absent for other errors.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    errors: &'a [Problem],
    /// Number of API calls of the account since the API was activated. Absent if the caller is not authenticated.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_usage: Option<u64>,
    /// Number of API calls of the account on the current day, in the time zone of the account. Absent if the caller is
    /// not authenticated.
    #[serde(skip_serializing_if = "Option::is_none")]
    api_daily_usage: Option<u64>,
}

/// The token endpoint, whose answers have only the members of the original API.
pub const TOKEN_PATH: &str = "/api/Auth/Token";

/// The body of errors of `POST /api/Auth/Token`.
#[derive(Serialize, ToSchema)]
pub struct TokenRefusal {
    /// Always false in errors.
    #[schema(example = false)]
    success: bool,
    /// Sentence in English for people that says what is wrong and what to do next.
    #[schema(example = "Invalid API key or user name.")]
    error: String,
}

/// The answer to a request that failed.
pub(super) fn render(error: &ApiError, context: &RequestContext, path: &str) -> Response {
    if path == TOKEN_PATH {
        let refusal = TokenRefusal { success: false, error: error.message.clone() };
        answer(error, "application/json", &refusal).map(Body::from)
    } else {
        render_problem(error, context).map(Body::from)
    }
}

/// The answer to a request that could not be parsed as HTTP.
pub fn refuse_unreadable(status: StatusCode) -> http::Response<Bytes> {
    let (code, message) = match status {
        StatusCode::URI_TOO_LONG => (ErrorCode::AddressTooLong, ADDRESS_TOO_LONG),
        StatusCode::REQUEST_HEADER_FIELDS_TOO_LARGE => (
            ErrorCode::HeadTooLarge,
            "The request line and headers are larger than 64 KiB. Send fewer or shorter headers.",
        ),
        _ => (
            ErrorCode::MalformedRequest,
            "The request is not valid HTTP. Check the request line and the headers.",
        ),
    };
    let context = RequestContext::new(&Extensions::new());
    let mut response = render_problem(&ApiError::new(code, message), &context);
    if let Ok(id) = HeaderValue::from_str(context.id()) {
        response.headers_mut().insert("x-request-id", id);
    }
    response.headers_mut().insert("api-version", HeaderValue::from_static("1"));
    response
}

/// Advice for a client whose path and query are too long.
pub(super) const ADDRESS_TOO_LONG: &str =
    "The URL is longer than 8192 bytes. Shorten the query, or send fewer parameters at a time.";

fn answer(error: &ApiError, media_type: &'static str, body: &impl Serialize) -> http::Response<Bytes> {
    let mut response = http::Response::new(Bytes::from(serde_json::to_vec(body).unwrap_or_default()));
    *response.status_mut() = error.code.status();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(media_type));
    headers.extend(error.headers.iter().cloned());
    response
}

fn render_problem(error: &ApiError, context: &RequestContext) -> http::Response<Bytes> {
    let usage = context.usage();
    let problem = ProblemBody {
        success: false,
        error: &error.message,
        kind: format!("urn:perigee:problem:{}", error.code.name()),
        title: error.code.title(),
        status: error.code.status().as_u16(),
        detail: &error.message,
        instance: context.id(),
        code: error.code.name(),
        errors: &error.problems,
        api_usage: usage.map(|usage| usage.total),
        api_daily_usage: usage.map(|usage| usage.today),
    };
    answer(error, "application/problem+json", &problem)
}

/// The error for an unknown path.
pub fn nothing_here() -> ApiError {
    ApiError::new(
        ErrorCode::NotFound,
        "This path does not exist. The reference at /api/docs lists every path.",
    )
}

/// The error for an answer of the framework that has a status but no error body.
pub(super) fn of_bare_status(status: StatusCode) -> Option<ApiError> {
    let (code, message) = match status {
        StatusCode::NOT_FOUND => return Some(nothing_here()),
        StatusCode::METHOD_NOT_ALLOWED => (
            ErrorCode::MethodNotAllowed,
            "This path does not support this method. The Allow header lists the supported methods.",
        ),
        StatusCode::PAYLOAD_TOO_LARGE => {
            (ErrorCode::BodyTooLarge, "The body is too large for this operation. Send it in parts.")
        }
        StatusCode::REQUEST_TIMEOUT => {
            (ErrorCode::RequestTimeout, "The request was not received in time. Send it again.")
        }
        StatusCode::BAD_REQUEST => {
            (ErrorCode::InvalidParameter, "The request cannot be read. Check the URL and its encoding.")
        }
        _ => return None,
    };
    Some(ApiError::new(code, message))
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;

    use super::*;
    use crate::http::error::{internal, invalid_body, unavailable};
    use crate::http::json::Pointer;

    #[tokio::test]
    async fn the_token_endpoint_keeps_its_own_form() {
        let context = RequestContext::new(&Extensions::new());
        let problem = |detail: &str| Problem { pointer: Pointer::root(), detail: detail.to_owned() };
        let check = async |error: ApiError, status: u16, expect: Option<&str>| {
            let response = render(&error, &context, TOKEN_PATH);
            assert_eq!(response.status().as_u16(), status);
            assert_eq!(response.headers()[header::CONTENT_TYPE], "application/json");
            let body = response.into_body().collect().await.unwrap().to_bytes();
            let body: serde_json::Value = serde_json::from_slice(&body).unwrap();
            let message = expect.unwrap_or(&error.message);
            assert_eq!(body, serde_json::json!({ "success": false, "error": message }));
        };
        check(internal("the disk has failed"), 500, None).await;
        check(unavailable("the store is down"), 503, None).await;
        check(ApiError::new(ErrorCode::RequestTimeout, "Too slow."), 408, None).await;
        check(invalid_body(vec![problem("One."), problem("Two.")]), 400, Some("One. Two.")).await;
    }
}
