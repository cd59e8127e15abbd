//! What a provider's answer means.

use perigee_core::notification::Delivery;
use serde_json::Value;

use super::settings::HttpGatewaySettings;
use crate::plain::excerpt;

/// Characters of an answer that are kept for people.
const SHOWN: usize = 300;
/// Characters of a reference.
const REFERENCE: usize = 200;

/// An answer as far as it was read.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    /// Seconds it asks to wait.
    pub(super) retry_after: Option<u32>,
    /// Its body; none when it was too long or the connection was lost within.
    pub(super) body: Option<Vec<u8>>,
}

/// What becomes of the message after this answer.
pub(super) fn judge(settings: &HttpGatewaySettings, answer: &Answer) -> Delivery {
    let status = answer.status;
    let reason = || {
        let body = answer.body.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
        format!("the SMS gateway answered {}", excerpt(&format!("{status} {body}"), SHOWN))
    };
    if settings.later_statuses.contains(&status) {
        return Delivery::Later { reason: reason(), wait: answer.retry_after };
    }
    if settings.refused_statuses.contains(&status) {
        return Delivery::Refused { reason: reason() };
    }
    match status {
        200..300 => judge_success(settings, answer, reason),
        300..400 => Delivery::Later {
            reason: format!(
                "the SMS gateway redirects ({status}), which is not followed; set its final address"
            ),
            wait: None,
        },
        // Who we are or where we asked is wrong, or we are too quick: the message itself was not looked at.
        401 | 402 | 403 | 404 | 405 | 407 | 408 | 425 | 429 | 503 => {
            Delivery::Later { reason: reason(), wait: answer.retry_after }
        }
        400..500 => Delivery::Refused { reason: reason() },
        // It failed while it was at it, and nobody knows how far it came.
        _ => Delivery::Unclear { reason: reason() },
    }
}

fn judge_success(settings: &HttpGatewaySettings, answer: &Answer, reason: impl Fn() -> String) -> Delivery {
    let document: Option<Value> = answer.body.as_deref().and_then(|body| serde_json::from_slice(body).ok());
    let at = |pointer: &Option<String>| {
        let value = document.as_ref()?.pointer(pointer.as_deref()?)?;
        Some(value.as_str().map_or_else(|| value.to_string(), str::to_owned))
    };
    let sent = || Delivery::Sent {
        reference: at(&settings.reference_pointer).map(|text| excerpt(&text, REFERENCE)),
    };
    if settings.success_pointer.is_none() {
        return sent();
    }
    match at(&settings.success_pointer) {
        Some(value) if settings.success_values.contains(&value) => sent(),
        Some(value) if settings.later_values.contains(&value) => {
            Delivery::Later { reason: reason(), wait: answer.retry_after }
        }
        Some(_) => Delivery::Refused { reason: reason() },
        None => Delivery::Unclear {
            reason: format!("{}, which does not say whether it took the message", reason()),
        },
    }
}
