//! Sends messages to browsers through their push services.

use std::sync::Arc;

use async_trait::async_trait;
use http::header::{AUTHORIZATION, CONTENT_ENCODING, CONTENT_TYPE, LOCATION};
use perigee_core::id::{AccountId, PushSubscriptionId};
use perigee_core::notifications::notification::{Message, PushHandling, SendOutcome, Sender};
use perigee_core::notifications::push::{PushEndpoint, PushResult, PushTarget};
use perigee_core::time::Clock;
use reqwest::{Client, Request};
use url::Url;

use super::contact::PushContact;
use super::encrypt::encrypt;
use super::keys::PushKey;
use crate::http_answer::{HttpAnswer, cause, read};
use crate::plain::excerpt;
use crate::preset::UrlCheck;

/// Characters of an answer that are shown to people.
const SHOWN: usize = 300;

/// Where push subscriptions are kept.
#[async_trait]
pub trait PushTargets: Send + Sync {
    /// What a message to this browser needs; `None` if there is no such subscription. The error is for people.
    async fn find(&self, account: AccountId, id: PushSubscriptionId) -> Result<Option<PushTarget>, String>;

    /// Records what a message showed about the subscription. A failure is only logged.
    async fn record(
        &self,
        account: AccountId,
        id: PushSubscriptionId,
        sent_to: &PushEndpoint,
        result: PushResult,
    );
}

/// Sends the messages of the channel `push`.
pub struct PushSender {
    targets: Arc<dyn PushTargets>,
    contact: Option<PushContact>,
    client: Client,
    check_url: UrlCheck,
    clock: Arc<dyn Clock>,
}

impl PushSender {
    /// A sender. The client must not follow redirects, and must connect only to addresses that may be requested.
    pub fn new(
        targets: Arc<dyn PushTargets>,
        contact: Option<PushContact>,
        client: Client,
        check_url: UrlCheck,
        clock: Arc<dyn Clock>,
    ) -> Self {
        Self { targets, contact, client, check_url, clock }
    }

    fn request(
        &self,
        message: &Message,
        target: &PushTarget,
        handling: &PushHandling,
    ) -> Result<Request, String> {
        let endpoint = &target.endpoint;
        let url = Url::parse(&endpoint.url).map_err(|_unreadable| "the URL of the browser is not valid")?;
        (self.check_url)(&url).map_err(|refusal| format!("the URL of the browser {refusal}"))?;
        let stored = target.key.as_ref().ok_or(KEY_EXPIRED)?;
        let key = PushKey::from_pkcs8(&stored.pkcs8).map_err(|error| error.to_string())?;
        let contact = self.contact.as_ref().map(PushContact::as_str);
        let authorization =
            key.authorization(&url, contact, self.clock.now()).map_err(|error| error.to_string())?;
        let body = encrypt(message.text.as_bytes(), &endpoint.p256dh, &endpoint.auth)
            .map_err(|error| error.to_string())?;
        let mut request = self
            .client
            .post(url)
            .header("TTL", handling.ttl_s)
            .header("Urgency", handling.urgency.name())
            .header(AUTHORIZATION, authorization)
            .header(CONTENT_ENCODING, "aes128gcm")
            .header(CONTENT_TYPE, "application/octet-stream");
        if let Some(topic) = &handling.topic {
            request = request.header("Topic", topic);
        }
        request.body(body).build().map_err(|error| error.without_url().to_string())
    }
}

/// Shown when the browser accepts only messages of a key that is no longer valid.
const KEY_EXPIRED: &str = "the browser was subscribed with a key that has expired; the user must turn notifications on again in this browser";

#[async_trait]
impl Sender for PushSender {
    async fn send(&self, message: &Message) -> SendOutcome {
        let refused = |reason: &str| SendOutcome::Refused { reason: reason.to_owned() };
        let (Ok(id), Some(handling)) = (message.to.parse::<PushSubscriptionId>(), &message.push) else {
            return refused("the message is not for a browser");
        };
        let target = match self.targets.find(handling.account, id).await {
            Ok(Some(target)) => target,
            Ok(None) => return refused("the browser is no longer subscribed, or its user is not active"),
            Err(reason) => return SendOutcome::RetryLater { reason, wait: None },
        };
        let record = |result| self.targets.record(handling.account, id, &target.endpoint, result);
        if target.key.is_none() {
            record(PushResult::Gone).await;
            return refused(KEY_EXPIRED);
        }
        let request = match self.request(message, &target, handling) {
            Ok(request) => request,
            Err(reason) => return SendOutcome::Refused { reason },
        };
        let response = match self.client.execute(request).await {
            Ok(response) => response,
            // The URL is a secret of the browser, so it is left out of the reason.
            Err(error) if error.is_connect() => {
                let reason = format!("cannot connect to the push service: {}", cause(&error.without_url()));
                return SendOutcome::RetryLater { reason, wait: None };
            }
            Err(error) => {
                let reason = format!(
                    "the push service did not answer, and may have accepted the message: {}",
                    cause(&error.without_url())
                );
                return SendOutcome::Unclear { reason };
            }
        };
        let location = response.headers().get(LOCATION).and_then(|value| value.to_str().ok());
        // The path of the receipt names the message at the service; it is not the URL of the browser.
        let reference = location.map(|location| excerpt(location, SHOWN));
        let answer = read(response).await;
        match answer.status {
            200..300 => record(PushResult::Accepted).await,
            404 | 410 => record(PushResult::Gone).await,
            _ => {}
        }
        outcome(&answer, reference)
    }
}

/// The outcome of an attempt, by the answer of the push service (RFC 8030, section 5).
fn outcome(answer: &HttpAnswer, reference: Option<String>) -> SendOutcome {
    let body = answer.body.as_deref().map(String::from_utf8_lossy).unwrap_or_default();
    let reason =
        format!("the push service answered {}", excerpt(&format!("{} {body}", answer.status), SHOWN));
    match answer.status {
        200..300 => SendOutcome::Sent { reference },
        404 | 410 => {
            SendOutcome::Refused { reason: format!("{reason}: the browser is no longer subscribed") }
        }
        300..400 => SendOutcome::RetryLater {
            reason: format!("{reason}, a redirect, which is not followed"),
            wait: None,
        },
        // Too many requests, or a contact or token that the operator must correct: the message was not examined.
        401 | 402 | 403 | 405 | 407 | 408 | 425 | 429 | 503 => {
            SendOutcome::RetryLater { reason, wait: answer.retry_after }
        }
        400..500 => SendOutcome::Refused { reason },
        _ => SendOutcome::Unclear { reason },
    }
}
