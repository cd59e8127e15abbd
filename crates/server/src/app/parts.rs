//! The named parts of the service.

use std::sync::Arc;

use perigee_core::store::Store;
use perigee_core::time::{Clock, Monotonic, Timestamp};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::access::{
    Authenticator, CodeBackoff, HourlyCalls, Identities, KnownNetworks, RateLimits, RefusalCounter,
    RunningKeys, ShareViewCounter, UsageCounter,
};
use crate::auth::AlertLinks;
use crate::auth::mail_link::MailLinks;
use crate::auth::password::Passwords;
use crate::budget::Budget;
use crate::compaction_status::CompactionStatus;
use crate::config::{BaseUrl, Config};
use crate::disk::DiskWarning;
use crate::downlink::Downlinks;
use crate::ingest::{Ingest, Reprocessing};
use crate::live::{EventPollKey, FeedPollKey, Live, PollAnswer, ShareCache, SharedReads};
use crate::map_fetch::MapFetcher;
use crate::map_layers::CurrentLayers;
use crate::map_picture::MapPictures;
use crate::poll::Poller;
use crate::readiness::Readiness;
use crate::serve::OpenConnections;
use crate::tiles::Tiles;
use crate::webhook::Webhooks;

/// The parts of the service.
pub struct Parts {
    /// The database of every account.
    pub store: Arc<dyn Store>,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// The settings of the operator.
    pub config: Config,
    /// The public URL.
    pub base_url: BaseUrl,
    /// Memory and work that requests may use.
    pub budget: Budget,
    /// Who may call, and how often.
    pub access: Access,
    /// What was counted and is not saved yet.
    pub counters: Counters,
    /// Maps of the console.
    pub maps: Maps,
    /// Reads of the logs that callers share.
    pub live: SharedLive,
    /// Facts for operators and probes.
    pub health: Health,
    /// Work beside requests.
    pub tasks: Tasks,
    /// Stores what gateways receive.
    pub ingest: Arc<Ingest>,
    /// Decodes stored messages again.
    pub reprocessing: Reprocessing,
    /// Fetches messages of polled gateways.
    pub poller: Arc<Poller>,
    /// Hands messages of conversations to providers.
    pub downlinks: Arc<Downlinks>,
    /// State of sending to webhooks.
    pub webhooks: Arc<Webhooks>,
}

/// Authentication and rate limits.
pub struct Access {
    /// Issues and checks tokens, and checks sessions.
    pub authenticator: Authenticator,
    /// Cache of users and sessions.
    pub identities: Arc<Identities>,
    /// Hashes passwords outside the connection threads.
    pub passwords: Passwords,
    /// Signs links with which recipients unsubscribe or confirm.
    pub mail_links: MailLinks,
    /// Signs links with which recipients acknowledge alerts.
    pub alert_links: AlertLinks,
    /// Rate limits by account and address.
    pub rates: Arc<RateLimits>,
    /// Back-off after wrong codes of the second factor.
    pub code_backoff: CodeBackoff,
    /// Networks that users signed in from.
    pub known_networks: KnownNetworks,
    /// Idempotency keys of requests that are running.
    pub running_keys: RunningKeys,
}

/// Counts in memory that a background job saves.
#[derive(Default)]
pub struct Counters {
    /// Calls by account.
    pub usage: UsageCounter,
    /// Calls by user and hour.
    pub hours: HourlyCalls,
    /// Openings of share links.
    pub views: ShareViewCounter,
    /// Refusals for the audit log.
    pub refusals: RefusalCounter,
}

/// The maps that the console can show.
pub struct Maps {
    /// The tiles of the bundled map, if it was found.
    pub bundled: Option<Tiles>,
    /// Draws pictures of the bundled map, if it was found.
    pub pictures: Option<Arc<MapPictures>>,
    /// The operator's map tiles, if configured.
    pub tiles: Option<Tiles>,
    /// Further maps and overlays of the operator.
    pub layers: CurrentLayers,
    /// Copies maps from elsewhere.
    pub fetcher: MapFetcher,
}

/// Streams, polls and pages that read the logs once for many callers.
pub struct SharedLive {
    /// Streams and waiting polls.
    pub streams: Arc<Live>,
    /// Answers to polls for events, shared by callers with the same cache key.
    pub event_polls: SharedReads<EventPollKey, PollAnswer>,
    /// Answers to polls for locations, shared in the same way.
    pub feed_polls: SharedReads<FeedPollKey, PollAnswer>,
    /// Cached pages of share links.
    pub share_cache: ShareCache,
}

/// The state of this node.
pub struct Health {
    /// When the service was built.
    pub started: Timestamp,
    /// The same on the monotonic clock, for the uptime.
    pub started_monotonic: Monotonic,
    /// The work of compaction since the start.
    pub compaction: CompactionStatus,
    /// The last probe of the store.
    pub readiness: Readiness,
    /// Time of the last warning about a full disk.
    pub disk_warning: DiskWarning,
    /// Count of open connections.
    pub connections: OpenConnections,
}

impl Health {
    /// Of a service that is being built.
    pub(super) fn new(clock: &dyn Clock) -> Self {
        Self {
            started: clock.now(),
            started_monotonic: clock.monotonic(),
            compaction: CompactionStatus::default(),
            readiness: Readiness::default(),
            disk_warning: DiskWarning::default(),
            connections: OpenConnections::default(),
        }
    }
}

/// Work that outlives its request.
#[derive(Clone)]
pub struct Tasks {
    /// Cancelled when the service stops.
    pub stopping: CancellationToken,
    /// Tasks that are awaited during shutdown.
    pub background: TaskTracker,
    /// Runtime for work that belongs to no request.
    pub runtime: Handle,
}

impl Tasks {
    /// No tasks yet, on the current runtime.
    pub(super) fn new() -> Self {
        Self {
            stopping: CancellationToken::new(),
            background: TaskTracker::new(),
            runtime: Handle::current(),
        }
    }
}
