//! One attempt to deliver a message, and its outcome.

use http::header;
use perigee_core::time::Timestamp;
use perigee_core::webhooks::webhook::{AttemptOutcome, LeasedDelivery, Settlement, Webhook};
use perigee_notify::retry_after::asked_rest_s;
use reqwest::Response;

use super::backoff::wait_ms;
use super::client::Client;
use super::resolve::NoAddress;
use super::signature::{ID_HEADER, SIGNATURE_HEADER, TIMESTAMP_HEADER, sign};

/// Maximum number of bytes of an answer that are read so that the connection can be reused; a longer answer closes it.
const READ_MAX: usize = 16 * 1024;
const GONE: u16 = 410;

/// The answer of the receiver, or the error.
struct Answer {
    status: Option<u16>,
    error: Option<String>,
    /// Milliseconds the receiver asked to wait (`Retry-After`).
    rest_ms: Option<i64>,
}

/// Sends a message and returns the outcome, within the client's time limit. An error is an outcome too.
pub(super) async fn attempt(
    client: &Client,
    webhook: &Webhook,
    delivery: &LeasedDelivery,
    now: Timestamp,
) -> Settlement {
    let answer = match post(client, webhook, delivery, now).await {
        Ok(response) => read_answer(response).await,
        Err(error) => Answer { status: None, error: Some(error), rest_ms: None },
    };
    let failed = delivery.attempts.saturating_add(1);
    let outcome = match (answer.status, answer.rest_ms) {
        (Some(200..=299), _) => AttemptOutcome::Delivered,
        (Some(GONE), _) => AttemptOutcome::Gone,
        (_, Some(rest_ms)) => AttemptOutcome::Retry { wait_ms: wait_ms(failed).max(rest_ms), all: true },
        _ => AttemptOutcome::Retry { wait_ms: wait_ms(failed), all: false },
    };
    let error = match outcome {
        AttemptOutcome::Delivered => None,
        _ => answer.error.or_else(|| answer.status.map(describe)),
    };
    Settlement { id: delivery.id, fence: delivery.fence, status: answer.status, error, outcome }
}

async fn post(
    client: &Client,
    webhook: &Webhook,
    delivery: &LeasedDelivery,
    now: Timestamp,
) -> Result<Response, String> {
    let url = client.guard.parse(&webhook.settings.url);
    let url = url.map_err(|refused| format!("Nothing was sent: the URL {refused}."))?;
    let seconds = now.as_seconds();
    let request = client
        .http
        .post(url)
        .header(header::CONTENT_TYPE, "application/json")
        .header(ID_HEADER.name, &delivery.message)
        .header(TIMESTAMP_HEADER.name, seconds)
        .header(SIGNATURE_HEADER.name, sign(webhook, &delivery.message, seconds, &delivery.body, now))
        .body(delivery.body.clone());
    request.send().await.map_err(|error| explain(client, &error))
}

/// Reads the status of an answer, and its body to the end or to the limit.
async fn read_answer(mut response: Response) -> Answer {
    let status = response.status().as_u16();
    let rest_ms = asked_rest_s(response.headers()).map(|seconds| i64::from(seconds) * 1_000);
    let mut read = 0;
    // The status decides; an error in the body changes nothing.
    while let Ok(Some(some)) = response.chunk().await {
        read += some.len();
        if read > READ_MAX {
            break;
        }
    }
    Answer { status: Some(status), error: None, rest_ms }
}

fn describe(status: u16) -> String {
    match status {
        300..=399 => format!("The receiver answered {status}; redirects are not followed."),
        _ => format!("The receiver answered {status}."),
    }
}

/// The error, without details that only the operator may see.
pub(super) fn explain(client: &Client, error: &reqwest::Error) -> String {
    let mut source: Option<&dyn std::error::Error> = Some(error);
    while let Some(cause) = source {
        if cause.downcast_ref::<NoAddress>().is_some() {
            return "Nothing was sent: the host name has no address on the public Internet.".to_owned();
        }
        source = cause.source();
    }
    if error.is_timeout() {
        format!("The receiver did not answer within {} seconds.", client.timeout.as_secs())
    } else if error.is_connect() {
        "The connection failed: the receiver does not answer, or its certificate is not valid.".to_owned()
    } else {
        "The connection was closed before the receiver answered.".to_owned()
    }
}
