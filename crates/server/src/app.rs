//! Everything the service is made of, built from configuration. Tests build the same.

use std::ops::Deref;
use std::sync::Arc;

use perigee_core::error::StoreError;
use perigee_core::store::Store;
use perigee_core::time::{Clock, Monotonic, Timestamp};
use tokio::runtime::Handle;
use tokio_util::task::TaskTracker;

use crate::access::{
    Authenticator, CodeBackoff, HourBook, Identities, Rates, RefusalBook, RunningKeys, UsageBook, ViewBook,
    read_keys,
};
use crate::auth::mail_link::MailLinks;
use crate::auth::password::Passwords;
use crate::auth::signing::{self, SigningKeyError, SigningKeys};
use crate::budget::Budget;
use crate::compaction_status::CompactionStatus;
use crate::config::{BaseUrl, Config, ConfigError};
use crate::disk::DiskWarning;
use crate::event_format::EventFormat;
use crate::live::{EventPollKey, FeedPollKey, Live, LiveParts, PollAnswer, ShareCache, SharedReads};
use crate::readiness::Readiness;
use crate::serve::OpenConnections;
use crate::signals::Signals;
use crate::tiles::Tiles;
use crate::webhook::{ClientError, WebhookParts, Webhooks};

/// The service, cheap to clone.
#[derive(Clone)]
pub struct App(Arc<Parts>);

/// What the service is made of.
pub struct Parts {
    /// Where everything is kept.
    pub store: Arc<dyn Store>,
    /// The present.
    pub clock: Arc<dyn Clock>,
    /// When the service was built.
    pub started: Timestamp,
    /// The same, to measure how long ago that was.
    pub started_monotonic: Monotonic,
    /// What compaction has done since the start.
    pub compaction: CompactionStatus,
    /// Whether the store writes and reads.
    pub readiness: Readiness,
    /// When the disk was last warned of.
    pub disk_warning: DiskWarning,
    /// Connections that are open.
    pub connections: OpenConnections,
    /// What the operator set.
    pub config: Config,
    /// The address clients use.
    pub base_url: BaseUrl,
    /// Issues and checks tokens, and checks sessions.
    pub authenticator: Authenticator,
    /// The users asked for lately.
    pub identities: Arc<Identities>,
    /// Links in mails by which recipients end or confirm them.
    pub mail_links: MailLinks,
    /// Hashing of passwords.
    pub passwords: Passwords,
    /// The operator's map tiles.
    pub tiles: Option<Tiles>,
    /// Limits on use.
    pub rates: Arc<Rates>,
    /// What requests hold and compute at once.
    pub budget: Budget,
    /// Waits after wrong codes of the second factor.
    pub code_backoff: CodeBackoff,
    /// Calls counted.
    pub usage: UsageBook,
    /// The same by user and hour.
    pub hours: HourBook,
    /// Openings of share links counted.
    pub views: ViewBook,
    /// Refusals counted for the audit log.
    pub refusals: RefusalBook,
    /// Requests with an idempotency key that are running now.
    pub running_keys: RunningKeys,
    /// Wakes tasks that wait for a commit.
    pub signals: Arc<Signals>,
    /// Events on their way to those who watch.
    pub live: Arc<Live>,
    /// Answers to polls for events, shared by who waited for the same.
    pub event_polls: SharedReads<EventPollKey, PollAnswer>,
    /// The same of the feed of locations.
    pub feed_polls: SharedReads<FeedPollKey, PollAnswer>,
    /// What share links show.
    pub share_cache: ShareCache,
    /// Events on their way to webhooks.
    pub webhooks: Arc<Webhooks>,
    /// Work that outlives its request; awaited when the service stops.
    pub background: TaskTracker,
    /// Where work runs that is nobody's request.
    pub runtime: Handle,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// Builds the service on a store. The first one to open a store makes the keys that sign tokens.
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
        let rates = Arc::new(Rates::new(&config.limits, Arc::clone(&clock)));
        let authenticator = Authenticator::new(
            signing_keys(&*store, clock.now()).await?,
            config.auth.token_seconds,
            Arc::clone(&store),
            Arc::clone(&identities),
            Arc::clone(&rates),
        );
        let mail_links = MailLinks::new(&store.mail_link_key(rand::random()).await?);
        let (signals, tasks, runtime) = (Arc::<Signals>::default(), TaskTracker::new(), Handle::current());
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
        Ok(Self(Arc::new(Parts {
            mail_links,
            rates,
            live: Arc::new(Live::new(live, &config.events)),
            event_polls: SharedReads::default(),
            feed_polls: SharedReads::default(),
            share_cache: ShareCache::default(),
            started: clock.now(),
            started_monotonic: clock.monotonic(),
            webhooks: Arc::new(Webhooks::new(webhooks, &config.webhooks)?),
            tiles: Tiles::open(&config.map)?,
            store,
            config,
            base_url,
            budget,
            authenticator,
            identities,
            clock,
            passwords,
            code_backoff: CodeBackoff::default(),
            usage: UsageBook::default(),
            hours: HourBook::default(),
            views: ViewBook::default(),
            refusals: RefusalBook::default(),
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

/// The keys of the store, newest first; the first to ask makes one.
async fn signing_keys(store: &dyn Store, now: Timestamp) -> Result<SigningKeys, BuildError> {
    let fresh = signing::SigningKey::generate()?;
    Ok(read_keys(&store.signing_keys(fresh.to_stored(now)).await?)?)
}

/// Why the service could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The store failed.
    #[error("cannot read the keys that sign tokens")]
    Store(#[from] StoreError),
    /// Nothing can be sent.
    #[error("cannot set up what webhooks are sent with")]
    Webhooks(#[from] ClientError),
    /// The map cannot be shown.
    #[error(transparent)]
    Map(#[from] ConfigError),
    /// The kept keys cannot be used.
    #[error("the keys that sign tokens cannot be used")]
    Keys(#[from] SigningKeyError),
}
