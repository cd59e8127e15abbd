//! The parts of the service, built from configuration. Tests build the same. No part imports this module.

use std::ops::Deref;
use std::sync::Arc;

use perigee_core::access::credential::{LinkPurpose, NewLink};
use perigee_core::error::StoreError;
use perigee_core::id::UserId;
use perigee_core::notifications::notification::Channel;
use perigee_core::store::Store;
use perigee_core::time::{Clock, Monotonic, Timestamp};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::access::{
    Authenticator, CodeBackoff, HourlyCalls, Identities, KnownNetworks, RateLimits, RefusalCounter,
    RunningKeys, ShareViewCounter, UsageCounter, read_keys,
};
use crate::auth::mail_link::MailLinks;
use crate::auth::password::Passwords;
use crate::auth::signing::{self, SigningKeyError, SigningKeys};
use crate::auth::{AlertLinks, Secret, link};
use crate::budget::Budget;
use crate::bundled_map;
use crate::compaction_status::CompactionStatus;
use crate::config::{BaseUrl, Config, ConfigError};
use crate::disk::DiskWarning;
use crate::event_format::EventFormat;
use crate::ingest::{Ingest, IngestSettings, RawLimits};
use crate::live::{EventPollKey, FeedPollKey, Live, LiveParts, PollAnswer, ShareCache, SharedReads};
use crate::map_layers::{Layers, Proxy};
use crate::poll::Poller;
use crate::readiness::Readiness;
use crate::serve::OpenConnections;
use crate::signals::Signals;
use crate::tiles::Tiles;
use crate::webhook::{ClientError, WebhookParts, Webhooks};

/// The service. Clones share its parts.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// The parts of the service.
pub struct Parts {
    /// The database of every account.
    pub store: Arc<dyn Store>,
    /// The source of time.
    pub clock: Arc<dyn Clock>,
    /// When the service was built.
    pub started: Timestamp,
    /// The same on the monotonic clock, for the uptime.
    pub started_monotonic: Monotonic,
    /// What compaction has done since the start.
    pub compaction: CompactionStatus,
    /// The last probe of the store.
    pub readiness: Readiness,
    /// When the last warning of a full disk was logged.
    pub disk_warning: DiskWarning,
    /// Count of open connections.
    pub connections: OpenConnections,
    /// The settings of the operator.
    pub config: Config,
    /// The address clients use.
    pub base_url: BaseUrl,
    /// Issues and checks tokens, and checks sessions.
    pub authenticator: Authenticator,
    /// Cache of users and sessions.
    pub identities: Arc<Identities>,
    /// Signs links with which recipients unsubscribe or confirm.
    pub mail_links: MailLinks,
    /// Signs links with which recipients acknowledge alerts.
    pub alert_links: AlertLinks,
    /// Hashes passwords off the connection threads.
    pub passwords: Passwords,
    /// The tiles of the bundled map, if it was found.
    pub bundled_map: Option<Tiles>,
    /// The operator's map tiles, if configured.
    pub tiles: Option<Tiles>,
    /// Further maps and overlays of the operator's.
    pub layers: Layers,
    /// Fetches tiles of layers whose servers browsers do not ask; none without such layers.
    pub tile_proxy: Option<Proxy>,
    /// Rate limits by account and address.
    pub rates: Arc<RateLimits>,
    /// Memory and work that requests may use.
    pub budget: Budget,
    /// Back-off after wrong codes of the second factor.
    pub code_backoff: CodeBackoff,
    /// Networks that users signed in from.
    pub known_networks: KnownNetworks,
    /// Calls by account, not yet saved.
    pub usage: UsageCounter,
    /// Calls by user and hour, not yet saved.
    pub hours: HourlyCalls,
    /// Openings of share links, not yet saved.
    pub views: ShareViewCounter,
    /// Refusals for the audit log, not yet saved.
    pub refusals: RefusalCounter,
    /// Idempotency keys of requests that are running.
    pub running_keys: RunningKeys,
    /// Announces commits and the end of the service.
    pub signals: Arc<Signals>,
    /// Stores what gateways receive.
    pub ingest: Arc<Ingest>,
    /// Streams and waiting polls.
    pub live: Arc<Live>,
    /// Answers to polls for events, shared by callers that waited for the same.
    pub event_polls: SharedReads<EventPollKey, PollAnswer>,
    /// Answers to polls for locations, shared in the same way.
    pub feed_polls: SharedReads<FeedPollKey, PollAnswer>,
    /// Cached pages of share links.
    pub share_cache: ShareCache,
    /// State of sending to webhooks.
    pub webhooks: Arc<Webhooks>,
    /// Fetches messages of polled gateways.
    pub poller: Arc<Poller>,
    /// Work that outlives its request; awaited when the service stops.
    pub background: TaskTracker,
    /// Runtime for work that belongs to no request.
    pub runtime: Handle,
}

impl App {
    /// A new link with which a user sets their password, and its secret.
    pub fn new_password_link(&self, user: UserId, purpose: LinkPurpose) -> (Secret, NewLink) {
        let (seconds, hashed_for) = match purpose {
            LinkPurpose::Reset => (self.config.auth.reset_link_seconds, link::LinkPurpose::PasswordReset),
            LinkPurpose::Invitation => (self.config.auth.invitation_seconds, link::LinkPurpose::Invitation),
        };
        let secret = Secret::generate();
        let expires = self.clock.now().plus_seconds(i64::from(seconds));
        let hash = *hashed_for.hash(&secret).as_bytes();
        (secret, NewLink { user, purpose, hash, expires })
    }

    /// Whether this server sends e-mail.
    pub fn sends_email(&self) -> bool {
        self.config.notifications.is_on(Channel::Email) && !self.config.email.host.is_empty()
    }
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// Builds the service on a store. In a new store it creates the key that signs tokens.
    pub async fn build(
        config: Config,
        base_url: BaseUrl,
        store: Arc<dyn Store>,
        clock: Arc<dyn Clock>,
        passwords: Passwords,
        format: EventFormat,
    ) -> Result<Self, BuildError> {
        let budget = Budget::new(&config.budget);
        let passwords = passwords.in_queue(Arc::clone(&budget.hashes));
        let identities = Arc::new(Identities::new(Arc::clone(&clock)));
        let rates = Arc::new(RateLimits::new(&config.limits, Arc::clone(&clock)));
        let authenticator = Authenticator::new(
            signing_keys(&*store, clock.now()).await?,
            config.auth.token_seconds,
            Arc::clone(&store),
            Arc::clone(&identities),
            Arc::clone(&rates),
        );
        let link_key = store.mail_link_key(rand::random()).await?;
        let (mail_links, alert_links) = (MailLinks::new(&link_key), AlertLinks::new(&link_key));
        let (signals, tasks, runtime) = (Arc::<Signals>::default(), TaskTracker::new(), Handle::current());
        let ingest = Arc::new(Ingest::new(
            Arc::clone(&store),
            Arc::clone(&clock),
            budget.clone(),
            Arc::clone(&rates),
            Arc::clone(&signals),
            IngestSettings {
                counted_claims: config.gateways.claims.into(),
                engine_stop_max_kmh: config.gateways.engine_stop_max_kmh,
                protocol_options: config.gateways.options.clone(),
                raw_limits: RawLimits {
                    device_mib: config.gateways.raw_mib_per_device,
                    gateway_mib: config.gateways.raw_mib_per_gateway,
                    account_mib: config.gateways.raw_mib_per_account,
                },
            },
        ));
        let poller = Poller::new(
            Arc::clone(&store),
            Arc::clone(&clock),
            Arc::clone(&ingest),
            Arc::clone(&budget.bodies),
            &config.webhooks,
        )?;
        let live = LiveParts {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            signals: Arc::clone(&signals),
            format,
            tasks: tasks.clone(),
            runtime: runtime.clone(),
        };
        let webhooks = WebhookParts {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            signals: Arc::clone(&signals),
            format,
            tasks: tasks.clone(),
        };
        let layers = Layers::open(&config.map, &config.store.data)?;
        Ok(Self(Arc::new(Parts {
            mail_links,
            ingest,
            poller: Arc::new(poller),
            alert_links,
            rates,
            live: Arc::new(Live::new(live, &config.events)),
            event_polls: SharedReads::default(),
            feed_polls: SharedReads::default(),
            share_cache: ShareCache::new(&budget),
            started: clock.now(),
            started_monotonic: clock.monotonic(),
            webhooks: Arc::new(Webhooks::new(webhooks, &config.webhooks)?),
            bundled_map: bundled_map::find(&config.map)?,
            tiles: Tiles::open(&config.map)?,
            tile_proxy: layers.proxy(&config.map, &config.store.data)?,
            layers,
            store,
            config,
            base_url,
            budget,
            authenticator,
            identities,
            clock,
            passwords,
            code_backoff: CodeBackoff::default(),
            known_networks: KnownNetworks::default(),
            usage: UsageCounter::default(),
            hours: HourlyCalls::default(),
            views: ShareViewCounter::default(),
            refusals: RefusalCounter::default(),
            compaction: CompactionStatus::default(),
            readiness: Readiness::default(),
            disk_warning: DiskWarning::default(),
            connections: OpenConnections::default(),
            running_keys: RunningKeys::default(),
            signals,
            background: tasks,
            runtime,
        })))
    }
}

/// The signing keys of the store; one is created if there is none.
async fn signing_keys(store: &dyn Store, now: Timestamp) -> Result<SigningKeys, BuildError> {
    let fresh = signing::SigningKey::generate()?;
    Ok(read_keys(&store.signing_keys(fresh.to_stored(now)).await?)?)
}

/// Why the service could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The store could not be read.
    #[error("cannot read the keys that sign tokens")]
    Store(#[from] StoreError),
    /// The client of webhooks cannot be set up.
    #[error("cannot set up what webhooks are sent with")]
    Webhooks(#[from] ClientError),
    /// The file of map tiles or the folder of the bundled map cannot be read.
    #[error(transparent)]
    Map(#[from] ConfigError),
    /// The stored signing keys are damaged.
    #[error("the keys that sign tokens cannot be used")]
    Keys(#[from] SigningKeyError),
}
