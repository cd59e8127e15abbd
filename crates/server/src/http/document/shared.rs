//! Components that operations refer to: responses of errors, and the headers of every response.

use serde_json::{Map, Value, json};

use crate::http::error_code::ErrorCode;

/// The headers of every response, with their descriptions.
const HEADERS: [(&str, &str); 4] = [
    ("X-Request-Id", "Unique identifier of the request, as in the log of the server."),
    ("Api-Version", "Version of the API."),
    ("RateLimit", "Remaining requests of the rate limit, and the seconds until it resets."),
    ("RateLimit-Policy", "Rate limit that applies to the request."),
];

/// The headers, for the components of the document.
pub(super) fn headers() -> Value {
    let header = |(name, description): (&str, &str)| {
        (name.to_owned(), json!({ "description": description, "schema": { "type": "string" } }))
    };
    Value::Object(HEADERS.into_iter().map(header).collect())
}

/// References to the headers, for an answer.
pub(super) fn header_references() -> Value {
    let reference =
        |(name, _)| (String::from(name), json!({ "$ref": format!("#/components/headers/{name}") }));
    Value::Object(HEADERS.into_iter().map(reference).collect())
}

/// The answers of errors, for the components of the document.
pub(super) fn problems() -> Value {
    let mut problems = Map::new();
    for code in ErrorCode::ALL {
        let status = code.status().as_u16();
        problems.entry(name(status)).or_insert_with(|| problem(status));
    }
    Value::Object(problems)
}

/// A reference to the answer of this error.
pub(super) fn problem_reference(status: u16) -> Value {
    json!({ "$ref": format!("#/components/responses/{}", name(status)) })
}

fn name(status: u16) -> String {
    format!("Problem{status}")
}

fn problem(status: u16) -> Value {
    let codes: Vec<&ErrorCode> =
        ErrorCode::ALL.iter().filter(|code| code.status().as_u16() == status).collect();
    let names: Vec<String> = codes.iter().map(|code| format!("`{}`", code.name())).collect();
    json!({
        "description": format!("{}\n\nCodes: {}.", describe(status), names.join(", ")),
        "headers": header_references(),
        "content": { "application/problem+json": {
            "schema": { "$ref": "#/components/schemas/Problem" },
            "examples": codes.iter().map(|code| (code.name().to_owned(), example(**code))).collect::<Map<_, _>>(),
        } },
    })
}

fn example(code: ErrorCode) -> Value {
    let sentence = format!("{}.", code.title());
    let mut body = json!({
        "success": false,
        "error": sentence,
        "type": format!("urn:perigee:problem:{}", code.name()),
        "title": code.title(),
        "status": code.status().as_u16(),
        "detail": sentence,
        "instance": "req_0f3a9c2d4b5e6f708192a3b4",
        "code": code.name(),
    });
    if code == ErrorCode::InvalidBody {
        body["errors"] = json!([{ "pointer": "/name", "detail": "\"name\" is required." }]);
    }
    json!({ "value": body })
}

const fn describe(status: u16) -> &'static str {
    match status {
        400 => {
            "The body, a parameter or a header is not valid. `errors` lists problems of the body and the parameters."
        }
        401 => "The credentials, the token or the session are missing, not valid or expired.",
        403 => "The caller may not perform this operation, is disabled, or is not active at this time.",
        404 => "The resource does not exist, or the caller may not see it.",
        405 => "The path does not support this method.",
        406 => "None of the media types in `Accept` is available.",
        408 => "The body was not received in time.",
        409 => "The request conflicts with the current state. `code` gives the reason.",
        410 => "The cursor points to events or locations that are no longer stored.",
        412 => "`If-Match` does not match the current revision of the resource.",
        413 => "The body is larger than this operation accepts.",
        414 => "The URL is longer than 8192 bytes.",
        415 => "The media type or encoding of the body is not supported.",
        422 => {
            "The `Idempotency-Key` was used with another body, or applying the patch would take more work than its size allows."
        }
        429 => "The rate limit is exceeded. `Retry-After` gives the seconds to wait.",
        431 => "The request line and headers are larger than 64 KiB.",
        503 => "The service is overloaded or cannot reach its database. Sending the request again is safe.",
        _ => "An error of the server. Sending the request again is safe.",
    }
}
