//! Interprets the answer to the request of a preset.

use perigee_core::notifications::notification::{AnswerRules, SendOutcome};
use serde_json::Value;

use crate::http_answer::HttpAnswer;
use crate::plain::excerpt;

/// Characters of an answer that are shown to people.
const SHOWN: usize = 300;
/// Characters of a reference that are kept.
const REFERENCE: usize = 200;
/// The longest wait that an answer can ask for in its body, in seconds.
const WAIT_MAX_S: f64 = 86_400.0;

/// The outcome of the attempt, by this answer of the service with this name.
pub(super) fn interpret(title: &str, rules: &AnswerRules, answer: &HttpAnswer) -> SendOutcome {
    let status = answer.status;
    let document: Option<Value> = answer.body.as_deref().and_then(|body| serde_json::from_slice(body).ok());
    let at = |pointer: &Option<String>| document.as_ref()?.pointer(pointer.as_deref()?);
    let text = |pointer: &Option<String>| {
        at(pointer).map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let body = answer.body.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    let reason = || format!("{title} answered {}", excerpt(&format!("{status} {body}"), SHOWN));
    let wait = || answer.retry_after.or_else(|| seconds(at(&rules.retry_after)?));
    let sent =
        || SendOutcome::Sent { reference: text(&rules.reference).map(|text| excerpt(&text, REFERENCE)) };
    if rules.refused_statuses.contains(&status) {
        return SendOutcome::Refused { reason: reason() };
    }
    let is_later = text(&rules.code).is_some_and(|code| rules.later_codes.contains(&code));
    match status {
        200..300 if rules.success.is_none() => sent(),
        200..300 => match text(&rules.success) {
            Some(value) if rules.success_values.contains(&value) => sent(),
            Some(_) => SendOutcome::Refused { reason: reason() },
            None => SendOutcome::Unclear {
                reason: format!("{}, which does not show whether it accepted the message", reason()),
            },
        },
        300..400 => SendOutcome::RetryLater {
            reason: format!("{title} answered with a redirect ({status}), which is not followed"),
            wait: None,
        },
        // Wrong credentials, wrong URL or too many requests: the message itself was not examined.
        401 | 402 | 403 | 404 | 405 | 407 | 408 | 425 | 429 | 503 => {
            SendOutcome::RetryLater { reason: reason(), wait: wait() }
        }
        400..500 if is_later => SendOutcome::RetryLater { reason: reason(), wait: wait() },
        400..500 => SendOutcome::Refused { reason: reason() },
        // The service failed while handling the request, so the result is not known.
        _ => SendOutcome::Unclear { reason: reason() },
    }
}

/// Whole seconds of a number in an answer.
fn seconds(value: &Value) -> Option<u32> {
    let seconds = value.as_f64().filter(|seconds| seconds.is_finite())?.clamp(0.0, WAIT_MAX_S).ceil();
    format!("{seconds:.0}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_are_whole_seconds_within_a_day() {
        for (json, expect) in
            [("0.3", Some(1)), ("7", Some(7)), ("-4", Some(0)), ("1e99", Some(86_400)), ("\"7\"", None)]
        {
            assert_eq!(seconds(&serde_json::from_str(json).unwrap()), expect, "{json}");
        }
    }
}
