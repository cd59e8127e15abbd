//! Hands messages of conversations to the providers of satellite networks.
//!
//! A message is leased, handed over by one request, and settled. Providers bill each message and do not report whether they
//! have one: an attempt whose result is not known is therefore not repeated.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use perigee_core::devices::conversation::{OutgoingText, TextEnd};
use perigee_core::error::StoreError;
use perigee_core::store::Store;
use perigee_core::time::Clock;
use perigee_gateways::{Options, Outgoing, ProviderAnswer, ProviderCall, Verdict, find_downlink};

use crate::config;
use crate::webhook::{Client, ClientError, Guard, PostError, Posted};

/// Maximum time of a request, with its answer.
const ANSWER_WITHIN: Duration = Duration::from_secs(30);
/// How long a message is leased, in milliseconds: longer than a request and its settlement take.
const LEASE_MS: i64 = 3 * 60 * 1000;
/// Maximum number of messages that are handed over at the same time.
const AT_ONCE: u32 = 16;
/// Maximum number of messages that one round ends because nobody will send them.
const ENDED_AT_ONCE: u32 = 500;
/// Maximum number of bytes of an answer that are read.
const ANSWER_MAX: usize = 16 * 1024;
/// The shortest and the longest wait before another attempt, in seconds.
const WAIT_S: (i64, i64) = (30, 3_600);

/// Hands over messages that are due.
pub struct Downlinks {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    client: Client,
}

impl Downlinks {
    /// Sends only to URLs that are allowed for webhooks.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        settings: &config::Webhooks,
    ) -> Result<Self, ClientError> {
        let client = Client::new(Guard::configured(settings), ANSWER_WITHIN)?;
        Ok(Self { store, clock, client })
    }

    /// Ends messages that nobody will send, and hands over those that are due. Returns how many it handed over or tried
    /// to.
    pub async fn turn(&self) -> Result<usize, StoreError> {
        self.store.end_overdue_texts(ENDED_AT_ONCE).await?;
        let leased = self.store.lease_texts(AT_ONCE, LEASE_MS).await?;
        for settled in join_all(leased.iter().map(|text| self.hand_over(text))).await {
            settled?;
        }
        Ok(leased.len())
    }

    async fn hand_over(&self, text: &OutgoingText) -> Result<(), StoreError> {
        let end = self.attempt(text).await?;
        let result = match &end {
            TextEnd::HandedOver(_) => "handedOver",
            TextEnd::Failed(_) => "failed",
            TextEnd::Again(..) => "again",
            TextEnd::Unclear(_) => "unclear",
        };
        metrics::counter!("perigee_conversation_messages_total", "result" => result).increment(1);
        self.store.settle_text(text, end).await?;
        Ok(())
    }

    async fn attempt(&self, text: &OutgoingText) -> Result<TextEnd, StoreError> {
        let failed = |reason: &str| Ok(TextEnd::Failed(reason.to_owned()));
        let gateway = self.store.find_message_gateway(text.message.account, text.gateway).await?;
        let Some(gateway) = gateway else { return failed("The gateway was deleted.") };
        let Some(downlink) = find_downlink(&gateway.settings.feed) else {
            return failed("Messages cannot be sent by this gateway.");
        };
        let options = Options::new(serde_json::from_str(&gateway.settings.options).unwrap_or_default());
        if let Err(missing) = (downlink.ready)(&options) {
            return failed(missing);
        }
        if !downlink.carries(text.message.kind) {
            return failed("The provider of the gateway takes no messages of this type.");
        }
        let outgoing = Outgoing {
            options: &options,
            address: &text.address,
            kind: text.message.kind,
            text: &text.message.text,
            interval_s: text.message.interval_s,
            number: number_of(text),
            now: self.clock.now(),
        };
        let (verdict, rest_s) = match self.send((downlink.call)(&outgoing)).await {
            Ok(Posted { status, rest_s, body }) => {
                ((downlink.read)(&outgoing, &ProviderAnswer { status, body: &body }), rest_s)
            }
            Err(PostError::Refused(reason)) => (Verdict::Refused(reason), None),
            Err(PostError::NotSent(reason)) => (Verdict::Later(reason), None),
            Err(PostError::Unclear(reason)) => (
                Verdict::Unclear(format!(
                    "{reason} The message may have been sent. It is not sent again, because it would be billed twice."
                )),
                None,
            ),
        };
        Ok(match verdict {
            Verdict::Accepted(reference) => TextEnd::HandedOver(reference),
            Verdict::Refused(reason) => TextEnd::Failed(reason),
            Verdict::Later(reason) => {
                let wait_s = i64::from(rest_s.unwrap_or(0)).max(wait_s(text.attempts));
                TextEnd::Again(reason, self.clock.now().plus_seconds(wait_s))
            }
            Verdict::Unclear(reason) => TextEnd::Unclear(reason),
        })
    }

    /// Sends the request of a message, once.
    async fn send(&self, call: ProviderCall) -> Result<Posted, PostError> {
        match call {
            ProviderCall::Post(post) => {
                self.client.post(&post.url, &post.headers, post.body, ANSWER_MAX).await
            }
            ProviderCall::Tcp(exchange) => {
                let (host, port) = &exchange.address;
                let body = self
                    .client
                    .exchange((host.as_str(), *port), &exchange.bytes, exchange.answer_bytes)
                    .await?;
                Ok(Posted { status: 0, rest_s: None, body })
            }
        }
    }
}

/// The number by which a provider tells messages apart: the last 32 bits of the ID.
fn number_of(text: &OutgoingText) -> u32 {
    let [.., a, b, c, d] = text.message.id.as_i64().to_be_bytes();
    u32::from_be_bytes([a, b, c, d])
}

/// Seconds to wait after an attempt, given how many there were before: twice as long after each.
fn wait_s(attempts: u32) -> i64 {
    let (least, most) = WAIT_S;
    least.saturating_mul(1 << attempts.min(20)).min(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn waits_double_up_to_an_hour() {
        assert_eq!([0, 1, 2, 6, 7, u32::MAX].map(wait_s), [30, 60, 120, 1_920, 3_600, 3_600]);
    }
}
