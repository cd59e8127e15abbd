//! The parts of the service, built from configuration. Tests build the same. No part imports this module.

mod parts;

pub use parts::{Access, Counters, Health, Maps, Parts, SharedLive, Tasks};

use std::ops::Deref;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use perigee_core::access::actor::Scope;
use perigee_core::access::credential::{LinkPurpose, NewLink};
use perigee_core::devices::conversation::NewOutgoing;
use perigee_core::error::StoreError;
use perigee_core::id::UserId;
use perigee_core::notifications::notification::Channel;
use perigee_core::plans::PlanNudge;
use perigee_core::store::Store;
use perigee_core::time::{Clock, Timestamp};
use perigee_notify::push::{PushKey, PushKeyError};

use crate::access::{
    Authenticator, CodeBackoff, Identities, KnownNetworks, RateLimits, RunningKeys, read_keys,
};
use crate::auth::mail_link::MailLinks;
use crate::auth::password::Passwords;
use crate::auth::signing::{self, SigningKeyError, SigningKeys};
use crate::auth::{AlertLinks, Secret, link};
use crate::budget::Budget;
use crate::bundled_map;
use crate::config::{BaseUrl, Config, ConfigError};
use crate::downlink::Downlinks;
use crate::event_format::EventFormat;
use crate::ingest::{Ingest, IngestSettings, RawLimits, Reprocessing};
use crate::live::{Live, LiveParts, ShareCache, SharedReads};
use crate::map_fetch::{Env, MapFetcher};
use crate::map_layers::CurrentLayers;
use crate::map_picture::MapPictures;
use crate::poll::Poller;
use crate::tiles::Tiles;
use crate::webhook::{ClientError, WebhookParts, Webhooks};

/// Composes the message that asks the traveller of a plan to check in; `None` if no link of the device carries it.
pub type ComposeNudge =
    for<'a> fn(&'a App, Scope, &'a PlanNudge) -> BoxFuture<'a, Result<Option<NewOutgoing>, StoreError>>;

/// The service. Clones share its parts.
#[derive(Clone)]
pub struct App(Arc<Parts>);

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
        self.config.sends(Channel::EMAIL)
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
        let access = access(&config, &store, &clock, passwords.in_queue(Arc::clone(&budget.hashes))).await?;
        let tasks = Tasks::new();
        let ingest = Arc::new(Ingest::new(
            Arc::clone(&store),
            Arc::clone(&clock),
            budget.clone(),
            Arc::clone(&access.rates),
            ingest_settings(&config),
        ));
        let poller = Poller::new(
            Arc::clone(&store),
            Arc::clone(&clock),
            Arc::clone(&ingest),
            Arc::clone(&budget.bodies),
            &config.webhooks,
        )?;
        let downlinks = Downlinks::new(Arc::clone(&store), Arc::clone(&clock), &config.webhooks)?;
        let live = LiveParts {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            stopping: tasks.stopping.clone(),
            format,
            tasks: tasks.background.clone(),
            runtime: tasks.runtime.clone(),
        };
        let webhooks = WebhookParts {
            store: Arc::clone(&store),
            clock: Arc::clone(&clock),
            stopping: tasks.stopping.clone(),
            format,
            tasks: tasks.background.clone(),
        };
        Ok(Self(Arc::new(Parts {
            access,
            counters: Counters::default(),
            maps: maps(&config, &store, &clock)?,
            live: SharedLive {
                streams: Arc::new(Live::new(live, &config.events)),
                event_polls: SharedReads::default(),
                feed_polls: SharedReads::default(),
                share_cache: ShareCache::new(&budget),
            },
            health: Health::new(&*clock),
            tasks,
            reprocessing: Reprocessing::new(Arc::clone(&ingest)),
            ingest,
            poller: Arc::new(poller),
            downlinks: Arc::new(downlinks),
            webhooks: Arc::new(Webhooks::new(webhooks, &config.webhooks)?),
            store,
            clock,
            config,
            base_url,
            budget,
        })))
    }
}

async fn access(
    config: &Config,
    store: &Arc<dyn Store>,
    clock: &Arc<dyn Clock>,
    passwords: Passwords,
) -> Result<Access, BuildError> {
    let identities = Arc::new(Identities::new(Arc::clone(clock)));
    let rates = Arc::new(RateLimits::new(&config.limits, Arc::clone(clock)));
    let authenticator = Authenticator::new(
        signing_keys(&**store, clock.now()).await?,
        config.auth.token_seconds,
        Arc::clone(store),
        Arc::clone(&identities),
        Arc::clone(&rates),
    );
    push_keys(&**store, clock.now()).await?;
    let known_networks = KnownNetworks::of_sessions(&**store).await?;
    let link_key = store.mail_link_key(rand::random()).await?;
    Ok(Access {
        authenticator,
        identities,
        passwords,
        mail_links: MailLinks::new(&link_key),
        alert_links: AlertLinks::new(&link_key),
        rates,
        code_backoff: CodeBackoff::default(),
        known_networks,
        running_keys: RunningKeys::default(),
    })
}

fn ingest_settings(config: &Config) -> IngestSettings {
    let gateways = &config.gateways;
    IngestSettings {
        counted_claims: gateways.claims.into(),
        engine_stop_max_kmh: gateways.engine_stop_max_kmh,
        protocol_options: gateways.options.clone(),
        raw_limits: RawLimits {
            device_mib: gateways.raw_mib_per_device,
            gateway_mib: gateways.raw_mib_per_gateway,
            account_mib: gateways.raw_mib_per_account,
        },
    }
}

fn maps(config: &Config, store: &Arc<dyn Store>, clock: &Arc<dyn Clock>) -> Result<Maps, ConfigError> {
    let bundled = bundled_map::find(&config.map)?;
    Ok(Maps {
        pictures: MapPictures::of(bundled.as_ref()).map(Arc::new),
        bundled,
        tiles: Tiles::open(&config.map)?,
        layers: CurrentLayers::open(&config.map, &config.store.data)?,
        fetcher: MapFetcher::new(Env::of(config, Arc::clone(store), Arc::clone(clock))),
    })
}

/// The signing keys of the store; one is created if there is none.
async fn signing_keys(store: &dyn Store, now: Timestamp) -> Result<SigningKeys, BuildError> {
    let fresh = signing::SigningKey::generate()?;
    Ok(read_keys(&store.signing_keys(fresh.to_stored(now)).await?)?)
}

/// Makes sure that there is a key for messages to push services.
async fn push_keys(store: &dyn Store, now: Timestamp) -> Result<(), BuildError> {
    let fresh = PushKey::generate()?;
    store.push_keys(fresh.to_stored(now)).await?;
    Ok(())
}

/// Why the service could not be built.
#[derive(Debug, thiserror::Error)]
pub enum BuildError {
    /// The store could not be read.
    #[error("cannot read the initial state of the service from the store")]
    Store(#[from] StoreError),
    /// The client of webhooks cannot be set up.
    #[error("cannot set up the HTTP client for webhooks")]
    Webhooks(#[from] ClientError),
    /// The file of map tiles or the folder of the bundled map cannot be read.
    #[error(transparent)]
    Map(#[from] ConfigError),
    /// The stored signing keys are damaged.
    #[error("the keys that sign tokens cannot be used")]
    Keys(#[from] SigningKeyError),
    /// The random number generator failed.
    #[error("the key of Web Push cannot be made")]
    PushKey(#[from] PushKeyError),
}
