//! Interprets a provider's answer.

use perigee_core::notifications::notification::SendOutcome;
use serde_json::Value;

use super::settings::HttpGatewaySettings;
use crate::http_answer::HttpAnswer;
use crate::plain::excerpt;

/// Characters of an answer that are shown to people.
const SHOWN: usize = 300;
/// Characters of a reference that are kept.
const REFERENCE: usize = 200;

/// The outcome of the attempt, by this answer.
pub(super) fn interpret(settings: &HttpGatewaySettings, answer: &HttpAnswer) -> SendOutcome {
    let status = answer.status;
    let reason = || {
        let body = answer.body.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        format!("the SMS gateway answered {}", excerpt(&format!("{status} {body}"), SHOWN))
    };
    if settings.later_statuses.contains(&status) {
        return SendOutcome::RetryLater { reason: reason(), wait: answer.retry_after };
    }
    if settings.refused_statuses.contains(&status) {
        return SendOutcome::Refused { reason: reason() };
    }
    match status {
        200..300 => interpret_success(settings, answer, reason),
        300..400 => SendOutcome::RetryLater {
            reason: format!(
                "the SMS gateway answered with a redirect ({status}), which is not followed; configure its final URL"
            ),
            wait: None,
        },
        // Wrong credentials, wrong URL or rate limit: the message itself was not examined.
        401 | 402 | 403 | 404 | 405 | 407 | 408 | 425 | 429 | 503 => {
            SendOutcome::RetryLater { reason: reason(), wait: answer.retry_after }
        }
        400..500 => SendOutcome::Refused { reason: reason() },
        // The provider failed while handling the request, so the result is not known.
        _ => SendOutcome::Unclear { reason: reason() },
    }
}

fn interpret_success(
    settings: &HttpGatewaySettings,
    answer: &HttpAnswer,
    reason: impl Fn() -> String,
) -> SendOutcome {
    let document: Option<Value> = answer.body.as_deref().and_then(|body| serde_json::from_slice(body).ok());
    let at = |pointer: &Option<String>| {
        let value = document.as_ref()?.pointer(pointer.as_deref()?)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let sent = || SendOutcome::Sent {
        reference: at(&settings.reference_pointer).map(|text| excerpt(&text, REFERENCE)),
    };
    if settings.success_pointer.is_none() {
        return sent();
    }
    match at(&settings.success_pointer) {
        Some(value) if settings.success_values.contains(&value) => sent(),
        Some(value) if settings.later_values.contains(&value) => {
            SendOutcome::RetryLater { reason: reason(), wait: answer.retry_after }
        }
        Some(_) => SendOutcome::Refused { reason: reason() },
        None => SendOutcome::Unclear {
            reason: format!("{}, which does not show whether it accepted the message", reason()),
        },
    }
}
