//! Requests of providers and phones, including stored ones: decoded outside the connection threads, within a budget.

use std::sync::Arc;

use bytes::Bytes;
use perigee_core::id::AccountId;
use perigee_core::time::Timestamp;
use perigee_gateways::{
    DecodeBudget, Feed, FeedContext, FeedDecoded, FeedOutcome, FeedReply, FeedRequest, Options, Refused,
};

use super::stored::stored_request::{StoredRequest, stored_request};
use crate::budget::{Budget, Exhausted, Payer, Permit, RunError, UntrustedBytes};

/// Bodies up to this many bytes are decoded on the connection's thread: that takes less than a millisecond, because the
/// budget of a small body is small.
const INLINE_MAX: usize = 8 * 1024;

/// A request with an untrusted body.
#[derive(Debug)]
pub struct FeedBody {
    head: Arc<Head>,
    body: UntrustedBytes,
}

#[derive(Debug)]
struct Head {
    method: String,
    query: String,
    headers: Vec<(String, String)>,
}

/// The decoded content of a request, and the memory that it uses.
#[derive(Debug)]
pub(super) struct DecodedBody {
    pub(super) decoded: FeedDecoded,
    pub(super) permit: Permit,
}

/// The decoding context of a request.
#[derive(Clone, Debug)]
pub struct FeedSettings {
    /// The feed of the request.
    pub feed: &'static Feed,
    /// Options of the gateway.
    pub options: Arc<Options>,
    /// When it was received.
    pub at: Timestamp,
}

impl FeedBody {
    /// A request as received. Names of headers are in lower case.
    pub fn new(method: &str, query: &str, headers: Vec<(String, String)>, body: UntrustedBytes) -> Self {
        let head = Head { method: method.to_owned(), query: query.to_owned(), headers };
        Self { head: Arc::new(head), body }
    }

    /// The answer of a provider that was fetched.
    pub fn of_answer(body: UntrustedBytes) -> Self {
        Self::new("POST", "", Vec::new(), body)
    }

    /// A body that a user pasted, or a stored one, charged to an account.
    pub fn of_bytes(budget: &Budget, account: AccountId, bytes: Vec<u8>) -> Result<Self, Exhausted> {
        Ok(Self::of_answer(untrusted(budget, account, bytes)?))
    }

    /// A stored request; `None` if it was not stored completely.
    pub(super) fn of_stored(
        budget: &Budget,
        account: AccountId,
        bytes: &[u8],
    ) -> Result<Option<Self>, Exhausted> {
        let Some(stored) = StoredRequest::parse(bytes) else { return Ok(None) };
        let request = stored.request();
        let headers = request.headers.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
        let body = untrusted(budget, account, request.body.to_vec())?;
        Ok(Some(Self::new(request.method, request.query, headers.collect(), body)))
    }

    /// Bytes of the body.
    pub fn len(&self) -> usize {
        self.body.len()
    }

    /// Whether the body has none.
    pub fn is_empty(&self) -> bool {
        self.body.is_empty()
    }

    /// Maximum memory for decoding it, in bytes.
    pub(super) fn memory(&self) -> usize {
        DecodeBudget::memory(self.len())
    }

    /// Verifies the authentication of the request beyond the secret in its URL.
    pub async fn check(
        &self,
        budget: &Budget,
        settings: &FeedSettings,
    ) -> Result<Result<(), Refused>, RunError> {
        let check = |request: &FeedRequest<'_>, context: &FeedContext<'_>, feed: &Feed| {
            (feed.check)(request, context)
        };
        self.read(budget, settings, self.memory(), check).await
    }

    /// Decodes the request when it is its account's turn.
    pub(super) async fn decode(
        &self,
        budget: &Budget,
        settings: &FeedSettings,
    ) -> Result<DecodedBody, RunError> {
        let decode = |request: &FeedRequest<'_>, context: &FeedContext<'_>, feed: &Feed| {
            ((feed.decode)(request, context), context.budget.used())
        };
        let (decoded, used) = self.read(budget, settings, self.memory(), decode).await?;
        let held = if self.len() <= INLINE_MAX { 0 } else { used };
        Ok(DecodedBody { decoded, permit: self.body.permit_more(held)? })
    }

    /// Decodes the request and returns a value derived from its content. Both use at most this many bytes of memory.
    pub(super) async fn decode_to<T: Send + 'static>(
        &self,
        budget: &Budget,
        settings: &FeedSettings,
        memory: usize,
        then: impl FnOnce(&Feed, &FeedDecoded) -> T + Send + 'static,
    ) -> Result<T, RunError> {
        let decode = |request: &FeedRequest<'_>, context: &FeedContext<'_>, feed: &Feed| {
            then(feed, &(feed.decode)(request, context))
        };
        self.read(budget, settings, memory, decode).await
    }

    /// The answer that its sender expects. It depends only on the first tag of a body, or on a short body.
    pub fn reply(&self, settings: &FeedSettings, outcome: &FeedOutcome) -> FeedReply {
        let FeedSettings { feed, options, at } = settings;
        self.body.read_here(|bytes| {
            self.head.with(bytes, |request| {
                let budget = DecodeBudget::for_body(0);
                (feed.reply)(request, &FeedContext { now: *at, options, budget: &budget }, outcome)
            })
        })
    }

    /// The request as it is stored.
    pub(super) fn stored(&self) -> Vec<u8> {
        self.body.read_here(|bytes| self.head.with(bytes, stored_request))
    }

    async fn read<T: Send + 'static>(
        &self,
        budget: &Budget,
        settings: &FeedSettings,
        memory: usize,
        read: impl FnOnce(&FeedRequest<'_>, &FeedContext<'_>, &Feed) -> T + Send + 'static,
    ) -> Result<T, RunError> {
        let (head, settings, length) = (Arc::clone(&self.head), settings.clone(), self.len());
        let work = move |bytes: &[u8]| {
            let FeedSettings { feed, options, at } = &settings;
            let budget = DecodeBudget::for_body(length);
            let context = FeedContext { now: *at, options, budget: &budget };
            head.with(bytes, |request| read(request, &context, feed))
        };
        if length <= INLINE_MAX {
            return Ok(self.body.read_here(work));
        }
        self.body.read(budget, memory, work).await
    }
}

impl Head {
    fn with<T>(&self, body: &[u8], read: impl FnOnce(&FeedRequest<'_>) -> T) -> T {
        let headers: Vec<(&str, &str)> =
            self.headers.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
        read(&FeedRequest { method: &self.method, query: &self.query, headers: &headers, body })
    }
}

/// Bytes that are in memory already, charged to an account.
pub(super) fn untrusted(
    budget: &Budget,
    account: AccountId,
    bytes: Vec<u8>,
) -> Result<UntrustedBytes, Exhausted> {
    let permit = budget.bodies.try_acquire_whole(Payer::account(account), bytes.len())?;
    Ok(UntrustedBytes::new(Bytes::from(bytes), permit))
}
