//! What operations share by reference: the answers of errors, and the headers every answer has.

use serde_json::{Map, Value, json};

use crate::http::error_code::ErrorCode;

/// Every header that stands on every answer, with what it says.
const HEADERS: [(&str, &str); 4] = [
    ("X-Request-Id", "The id of the request, as in the service's log."),
    ("Api-Version", "The version of the API."),
    ("RateLimit", "What is left of the limit, and for how long."),
    ("RateLimit-Policy", "The limit that applies."),
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
        400 => "The body, a parameter or a header is not valid; `errors` says where.",
        401 => "No token, a bad or expired one, or one whose key was replaced.",
        403 => "The user may not do this, is disabled, or is not valid at this time.",
        404 => "The resource does not exist, or the caller may not see it.",
        405 => "The method is not allowed here.",
        406 => "None of the accepted media types can be answered.",
        408 => "The body came too slowly.",
        409 => "It would break a rule; `code` says which.",
        410 => "The cursor points before what is still kept.",
        412 => "`If-Match` names another revision.",
        413 => "The body is too large.",
        414 => "The address is too long.",
        415 => "The body is not of a type, or is encoded in a way, that is taken here.",
        422 => {
            "The `Idempotency-Key` was used with another body, or the patch would take more work than its size explains."
        }
        429 => "Too many requests; `Retry-After` says how long to wait.",
        431 => "The headers are too large.",
        503 => "Overloaded, or the store cannot be reached; sending again is safe.",
        _ => "Our fault; sending again is safe.",
    }
}
