//! One poll: leased, fetched, stored, settled.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use perigee_core::error::StoreError;
use perigee_core::gateways::gateway::{MessageResult, NewMessage};
use perigee_core::gateways::message_contents::{MessageDevices, RequestMessage};
use perigee_core::id::{AccountId, GatewayId};
use perigee_core::store::{LeasedPoll, PollSettlement, Store};
use perigee_core::time::{Clock, Monotonic};
use perigee_gateways::{Feed, Options, find_feed};
use tokio::sync::Mutex;

use super::provider::{Context, Provider};
use crate::budget::{Payer, Permit, Pool, UntrustedBytes};
use crate::cache::BoundedMap;
use crate::config;
use crate::ingest::{FeedArrival, FeedBody, FeedSettings, Ingest, IngestError, Page};
use crate::webhook::{Client, ClientError, Fetched, Guard};

/// Maximum time of a whole answer. Pages of a day have megabytes.
const ANSWER_WITHIN: Duration = Duration::from_mins(1);
/// The initial time limit. It is longer for a provider whose last answer took long, and doubles with each failure.
const SHORTEST_LIMIT: Duration = Duration::from_secs(15);
/// Maximum number of gateways for which the duration of the last answer is remembered.
const REMEMBERED: usize = 10_000;
/// How long a poll is leased, in milliseconds: longer than fetching and storing an answer takes.
const LEASE_MS: i64 = 5 * 60 * 1000;
/// An unreadable answer that is longer than this many bytes may be too long: XML has a limit on elements.
const READABLE_MAX: usize = 1 << 20;
/// The longest wait after failures, in seconds.
const RETRY_MAX_S: i64 = 3_600;

/// Fetches messages of polled gateways.
pub struct Poller {
    store: Arc<dyn Store>,
    clock: Arc<dyn Clock>,
    ingest: Arc<Ingest>,
    client: Client,
    guard: Guard,
    /// Memory of answers, shared with the bodies of requests.
    bodies: Arc<Pool>,
    /// When the next request to a provider may be made, for providers that limit the rate over all gateways.
    spaced: Mutex<HashMap<&'static str, Monotonic>>,
    /// The account that had the last turn.
    last_turn: AtomicI64,
    /// How long the last answer of a gateway took.
    durations: parking_lot::Mutex<BoundedMap<GatewayId, Duration>>,
}

/// The result of one request to a provider.
#[derive(Debug)]
pub enum Fetch {
    /// The body of an answer with status 200.
    Body(UntrustedBytes),
    /// There is no usable answer.
    Failed(Failure),
}

/// Why a poll failed.
#[derive(Debug)]
pub struct Failure {
    /// A sentence without URLs and credentials.
    error: String,
    /// Whether the provider refused the request.
    refused: bool,
    /// Seconds that the provider asks to wait.
    rest_s: Option<i64>,
    /// Where to continue instead, with a smaller request.
    cursor: Option<String>,
}

impl Failure {
    fn new(error: impl Into<String>) -> Self {
        Self { error: error.into(), refused: false, rest_s: None, cursor: None }
    }
}

impl Poller {
    /// A poller that fetches only from URLs that are allowed for webhooks.
    pub fn new(
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        ingest: Arc<Ingest>,
        bodies: Arc<Pool>,
        settings: &config::Webhooks,
    ) -> Result<Self, ClientError> {
        let guard = Guard::configured(settings);
        let client = Client::new(guard.clone(), ANSWER_WITHIN)?;
        Ok(Self {
            store,
            clock,
            ingest,
            client,
            guard,
            bodies,
            spaced: Mutex::default(),
            last_turn: AtomicI64::new(i64::MIN),
            durations: parking_lot::Mutex::new(BoundedMap::new(REMEMBERED)),
        })
    }

    /// Makes one poll that is due. Returns false if there was none.
    pub async fn turn(&self) -> Result<bool, StoreError> {
        let Some(poll) = self.lease().await? else { return Ok(false) };
        self.make(&poll).await?;
        Ok(true)
    }

    /// Makes a leased poll.
    pub async fn make(&self, poll: &LeasedPoll) -> Result<(), StoreError> {
        let fetched = self.fetch_within_limit(poll).await;
        let settled = self.store(poll, fetched).await?;
        self.settle(poll, settled).await?;
        Ok(())
    }

    /// Leases a poll that is due, so that no other node makes it.
    pub async fn lease(&self) -> Result<Option<LeasedPoll>, StoreError> {
        // Locked until the lease is known, so that two tasks of this node cannot poll a provider within its minimum
        // interval.
        let mut spaced = self.spaced.lock().await;
        let now = self.clock.monotonic();
        let is_allowed = |provider: &&Provider| spaced.get(provider.feed).is_none_or(|next| *next <= now);
        let feeds: Vec<&'static str> =
            Provider::ALL.iter().filter(is_allowed).map(|provider| provider.feed).collect();
        let after = AccountId::from_i64(self.last_turn.load(Ordering::Relaxed));
        let leased = self.store.lease_poll(&feeds, LEASE_MS, after).await?;
        if let Some(poll) = &leased {
            self.last_turn.store(poll.gateway.account.as_i64(), Ordering::Relaxed);
        }
        let provider = leased.as_ref().and_then(|poll| Provider::find(&poll.gateway.settings.feed));
        if let Some(provider) = provider.filter(|provider| provider.spacing_s > 0) {
            spaced.insert(provider.feed, now.plus(Duration::from_secs(provider.spacing_s)));
        }
        Ok(leased)
    }

    /// An empty permit for the memory of an answer, charged to this account.
    pub fn memory(&self, account: AccountId) -> Permit {
        self.bodies.empty(Payer::account(account))
    }

    /// Sends the next request, within the time limit of this gateway.
    async fn fetch_within_limit(&self, poll: &LeasedPoll) -> Fetch {
        let failures = poll.gateway.state.poll.as_ref().map_or(0, |state| state.failures);
        let durations = || self.durations.lock();
        let limit = time_limit(failures, durations().get(&poll.gateway.id).copied());
        let begun = self.clock.monotonic();
        let Ok(fetched) = tokio::time::timeout(limit, self.fetch(poll)).await else {
            let seconds = limit.as_secs();
            return Fetch::Failed(Failure::new(format!(
                "The provider did not answer within {seconds} s. The next request waits longer."
            )));
        };
        if matches!(fetched, Fetch::Body(..)) {
            let took = self.clock.monotonic().since(begun);
            durations().insert(poll.gateway.id, took, |took| *took > SHORTEST_LIMIT / 2);
        }
        fetched
    }

    /// Sends the next request.
    pub async fn fetch(&self, poll: &LeasedPoll) -> Fetch {
        let Some((provider, feed)) = parts(poll) else {
            return Fetch::Failed(Failure::new("This version of the server does not fetch this feed."));
        };
        let options = options(poll);
        let context = self.context(poll, &options);
        let request = match (provider.request)(&context) {
            Ok(request) => request,
            Err(error) => {
                let (option, problem) = (error.path.trim_start_matches('/'), error.problem);
                return Fetch::Failed(Failure::new(format!(
                    "The feed cannot be fetched: the option \"{option}\" of the gateway {problem}."
                )));
            }
        };
        let mut permit = self.memory(poll.gateway.account);
        let reserve = |more: usize| permit.bytes() + more <= feed.max_body && permit.grow(more).is_ok();
        let fetched = self.client.fetch(&request.url, &request.credentials, reserve).await;
        match fetched {
            Ok(Fetched { status: 200, body: Some(body), .. }) => {
                Fetch::Body(UntrustedBytes::new(body.into(), permit))
            }
            Ok(Fetched { status: 200, body: None, .. }) => Fetch::Failed(too_long(provider, &context)),
            Ok(Fetched { status, rest_s, .. }) => Fetch::Failed(Failure {
                refused: matches!(status, 400..=499),
                rest_s: rest_s.map(i64::from),
                ..Failure::new(explain(status))
            }),
            Err(error) => Fetch::Failed(Failure::new(error)),
        }
    }

    /// Stores the content of an answer, and returns the settlement. Storing the same answer again has no effect.
    pub async fn store(&self, poll: &LeasedPoll, fetched: Fetch) -> Result<PollSettlement, StoreError> {
        let body = match fetched {
            Fetch::Body(body) => FeedBody::of_answer(body),
            Fetch::Failed(failure) => return Ok(self.failed(poll, failure, None)),
        };
        let Some((provider, feed)) = parts(poll) else {
            return Ok(self.failed(
                poll,
                Failure::new("This version of the server does not fetch this feed."),
                None,
            ));
        };
        let options = Arc::new(options(poll));
        let settings = FeedSettings { feed, options: Arc::clone(&options), at: self.clock.now() };
        let arrival = FeedArrival {
            gateway: &poll.gateway,
            request: &body,
            settings: &settings,
            peer: IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        };
        let known = poll.gateway.state.poll.as_ref().and_then(|state| state.complete_to);
        let Page { decoded, raw, messages } = match self.ingest.take_page(arrival, known).await {
            Ok(page) => page,
            Err(IngestError::Store(error)) => return Err(error),
            Err(IngestError::Busy(error)) => {
                tracing::debug!(%error, feed = feed.name, "an answer could not be decoded yet");
                let failure = Failure::new(
                    "The server was too busy to decode the answer. The answer is fetched again.",
                );
                return Ok(self.failed(poll, failure, None));
            }
        };
        if decoded.error.is_some() && body.len() > READABLE_MAX {
            let failure = too_long(provider, &self.context(poll, &options));
            return Ok(self.failed(poll, failure, None));
        }
        if let Some(error) = decoded.error {
            // An answer that is not a list of messages is stored once, and requested again.
            let is_first = poll.gateway.state.poll.as_ref().is_none_or(|state| state.failures == 0);
            let failure = Failure {
                refused: true,
                ..Failure::new(format!("The answer of the provider cannot be decoded: {error}."))
            };
            return Ok(self.failed(poll, failure, raw.filter(|_| is_first).map(|raw| raw.message)));
        }
        let step = (provider.step)(&self.context(poll, &options), &decoded);
        Ok(PollSettlement {
            cursor: Some(step.cursor),
            complete_to: step.complete_to,
            next: self.clock.now().plus_seconds(step.wait_s),
            page: raw,
            messages,
            error: None,
            refused: false,
        })
    }

    /// Moves the cursor, and stores the answer with it.
    pub async fn settle(&self, poll: &LeasedPoll, settlement: PollSettlement) -> Result<bool, StoreError> {
        let result = match (&settlement.error, settlement.refused) {
            (Some(_), true) => "refused",
            (Some(_), false) => "failed",
            (None, _) => "ok",
        };
        let settled = self.store.settle_poll(poll, settlement).await?;
        let feed = poll.gateway.settings.feed.clone();
        metrics::counter!("perigee_feed_polls_total", "source" => feed, "result" => result).increment(1);
        Ok(settled)
    }

    fn context<'a>(&'a self, poll: &'a LeasedPoll, options: &'a Options) -> Context<'a> {
        Context { gateway: &poll.gateway, options, guard: &self.guard, now: poll.at }
    }

    fn failed(&self, poll: &LeasedPoll, failure: Failure, page: Option<NewMessage>) -> PollSettlement {
        let provider = Provider::find(&poll.gateway.settings.feed);
        let retry_s = provider.map_or(RETRY_MAX_S, |provider| provider.retry_s);
        let failures = poll.gateway.state.poll.as_ref().map_or(0, |state| state.failures);
        let doubled = retry_s.saturating_mul(1 << failures.min(10)).min(RETRY_MAX_S.max(retry_s));
        let wait_s = match (failure.refused, failure.rest_s) {
            (_, Some(rest_s)) => rest_s.max(retry_s),
            (true, None) => provider.map_or(RETRY_MAX_S, |provider| provider.refused_s),
            (false, None) => doubled,
        };
        PollSettlement {
            cursor: failure.cursor,
            complete_to: None,
            next: self.clock.now().plus_seconds(wait_s),
            page: page.map(|message| RequestMessage {
                message,
                result: MessageResult::Unparsable,
                devices: MessageDevices::Unknown,
                sos: Vec::new(),
            }),
            messages: 0,
            error: Some(failure.error),
            refused: failure.refused,
        }
    }
}

/// The time limit of an answer, from the number of failures and the duration of the last answer.
fn time_limit(failures: u32, last: Option<Duration>) -> Duration {
    let usual = SHORTEST_LIMIT.max(last.unwrap_or_default().saturating_mul(2));
    usual.saturating_mul(1 << failures.min(4)).min(ANSWER_WITHIN)
}

fn parts(poll: &LeasedPoll) -> Option<(&'static Provider, &'static Feed)> {
    let name = &poll.gateway.settings.feed;
    Some((Provider::find(name)?, find_feed(name)?))
}

fn options(poll: &LeasedPoll) -> Options {
    Options::new(serde_json::from_str(&poll.gateway.settings.options).unwrap_or_default())
}

/// An answer that is too long is requested in shorter parts, without a long wait.
fn too_long(provider: &Provider, context: &Context<'_>) -> Failure {
    Failure {
        cursor: (provider.shorter)(context),
        rest_s: Some(0),
        ..Failure::new(
            "The answer of the provider is too long. The next request is for a shorter time range.",
        )
    }
}

fn explain(status: u16) -> String {
    match status {
        401 | 403 => format!("The provider answered {status}: check the password or key of the gateway."),
        404 => "The provider answered 404: check the name or ID in the options of the gateway.".to_owned(),
        429 => "The provider answered 429: there were too many requests. The next request is sent later."
            .to_owned(),
        _ => format!("The provider answered {status}."),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_limits_adapt() {
        let check = |failures, last_s: Option<u64>, expect_s| {
            let limit = time_limit(failures, last_s.map(Duration::from_secs));
            assert_eq!(limit.as_secs(), expect_s, "{failures} failures, last {last_s:?}");
        };
        check(0, None, 15);
        check(0, Some(1), 15);
        check(0, Some(12), 24);
        check(0, Some(50), 60);
        check(1, None, 30);
        check(2, None, 60);
        check(u32::MAX, Some(50), 60);
    }
}
