//! Cloudloop's API for SBD messages: a form in, JSON out. It reports most refusals with status 200.

use serde_json::json;

use super::http::{Answer, Request};
use super::{Taken, unhex};

/// Maximum number of bytes of a message.
const BYTES: usize = 270;
/// Number of characters of the ID of a Thing.
const THING: usize = 32;

/// Refusal with a status of HTTP, or else with a negative status of Iridium's gateway.
pub(super) fn refusal(code: u32) -> Answer {
    if let Ok(status) = u16::try_from(code)
        && status >= 400
    {
        return (status, String::new(), json!({"error": "Simulated error"}).to_string());
    }
    let body = json!({"id": "MTsimulated", "mtMessageStatus": -i64::from(code)});
    (200, String::new(), body.to_string())
}

pub(super) fn take(token: &str, request: &Request<'_>) -> Result<(Taken, Answer), Answer> {
    let refuse = |error: &str| Err((200, String::new(), json!({"at": 1, "error": error}).to_string()));
    if request.bare_path() != "/Data/DoSendSbdMessage" {
        return Err((404, String::new(), String::new()));
    }
    if request.field("token") != token {
        return Err((403, String::new(), String::new()));
    }
    let to = request.field("thing");
    if to.len() != THING {
        return refuse("DispatcherInputException");
    }
    match unhex(&request.field("message")) {
        Some(bytes) if (1..=BYTES).contains(&bytes.len()) => {
            let text = Some(String::from_utf8_lossy(&bytes).into_owned());
            let accepted = Taken { path: request.bare_path().to_owned(), to, text, ..Taken::default() };
            Ok((accepted, (200, String::new(), json!({"id": "MTsimulated"}).to_string())))
        }
        _ => refuse("DispatcherInputException"),
    }
}
