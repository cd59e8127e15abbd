//! Starts the service from configuration and stops it, in an order that loses no acknowledged data.

mod metrics_server;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::BoxFuture;
use perigee_core::accounts::account::{AccountSettings, NewAccount};
use perigee_core::error::StoreError;
use perigee_core::text::Email;
use perigee_core::time::Clock;
use perigee_store::{Database, OpenError, OpenOptions};
use secrecy::SecretString;

use crate::app::{App, BuildError};
use crate::auth::password::{self, PasswordCost, PasswordError, Passwords};
use crate::background::{Jobs, save_hours, save_usage};
use crate::config::{BaseUrl, Config, ConfigError};
use crate::http::middleware::refuse_unreadable;
use crate::http::router::{COMPOSE_NUDGE, EVENT_FORMAT, READ_REPORT, router};
use crate::listen::{GatewayBindError, GatewayListeners};
use crate::recorder::recorder;
use crate::senders::Senders;
use crate::serve::{BindError, Listener, ServeConfig, ShutdownReport, Threads, Tls, TlsError, serve};
use metrics_server::MetricsServer;

/// How long work that outlived its request may take once every connection is closed.
const BACKGROUND_LIMIT: Duration = Duration::from_secs(5);

/// A service that is open and listening. Clients that connect now are served when it runs.
///
/// Opening and running return boxed futures, because an `async fn` is compiled again in the crate that awaits it, and
/// these are large.
pub struct Service {
    app: App,
    database: Database,
    listener: Listener,
    /// The listener that serves only `/metrics`.
    metrics: Option<Listener>,
    /// The listeners for trackers.
    gateways: GatewayListeners,
    tls: Option<Tls>,
    limits: ServeConfig,
    /// Senders of messages to people.
    senders: Senders,
}

/// The owner created by the first start. The password is stored nowhere else.
#[derive(Debug)]
pub struct FirstOwner {
    /// Their address, with which they sign in.
    pub email: Email,
    /// Shown once, when the service first starts.
    pub password: SecretString,
}

/// Why a service could not be opened. Each message says what to change.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// A setting is not valid.
    #[error(transparent)]
    Config(#[from] ConfigError),
    /// The address cannot be listened on.
    #[error("cannot listen for HTTP; choose another address with --listen")]
    Bind(#[from] BindError),
    /// An address for trackers cannot be listened on.
    #[error(transparent)]
    Gateway(#[from] GatewayBindError),
    /// The certificate cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The store cannot be opened.
    #[error(transparent)]
    Open(#[from] OpenError),
    /// The keys that sign tokens cannot be used.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// Passwords cannot be hashed.
    #[error(transparent)]
    Password(#[from] PasswordError),
    /// The system cannot start more threads.
    #[error("cannot start the threads that serve connections")]
    Threads(#[source] std::io::Error),
    /// The first account could not be stored.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl Service {
    /// Binds the address, opens the store and migrates it. The address comes first: a start that fails to listen
    /// changes no store.
    pub fn open(config: Config, clock: Arc<dyn Clock>) -> BoxFuture<'static, Result<Self, StartError>> {
        Box::pin(Self::open_all(config, clock))
    }

    async fn open_all(config: Config, clock: Arc<dyn Clock>) -> Result<Self, StartError> {
        config.validate()?;
        let senders = Senders::build(&config, &clock)?;
        let _installed_before_anything_is_counted = recorder();
        let mut limits = config.server.limits()?;
        limits.unreadable = Some(refuse_unreadable);
        limits.threads = Threads::one_a_core().map_err(StartError::Threads)?;
        let listener = Listener::bind(config.server.listen).await?;
        let metrics = match config.metrics.listen_at()? {
            Some(address) => Some(Listener::bind(address).await?),
            None => None,
        };
        let gateways = GatewayListeners::bind(&config.gateways).await?;
        let tls = match (&config.server.tls_certificate, &config.server.tls_key) {
            (Some(certificate), Some(key)) => Some(Tls::load(certificate, key)?),
            _ => None,
        };
        let base_url = config.server.base_url_at(listener.local_addr())?;
        let options = OpenOptions {
            readers: config.store.connections,
            connections: config.store.connections,
            allow_synchronous_commit: config.store.allow_synchronous_commit.clone(),
            replica: config.store.replica()?,
            replica_lag: Duration::from_millis(config.store.replica_lag_ms),
            ..OpenOptions::serve()
        };
        let (url, timeout) = (config.store.database_url()?, Duration::from_secs(config.store.wait_seconds));
        let database = Database::open_within(&url, options, clock.clone(), timeout).await?;
        let passwords = Passwords::new(PasswordCost::OWASP)?;
        let app =
            App::build(config, base_url, Arc::new(database.clone()), clock, passwords, EVENT_FORMAT).await?;
        limits.open_connections = app.health.connections.clone();
        Ok(Self { app, database, listener, metrics, gateways, tls, limits, senders })
    }

    /// Creates the first account and its owner if the store has no account.
    pub async fn first_owner(&self) -> Result<Option<FirstOwner>, StartError> {
        if self.app.store.has_accounts().await? {
            return Ok(None);
        }
        let first = &self.app.config.first_start;
        let password = password::generate();
        let new = NewAccount {
            settings: AccountSettings {
                name: first.account_name.clone(),
                time_zone: first.time_zone.clone(),
                expiry_notice_days: AccountSettings::EXPIRY_NOTICE_DAYS,
                retention_days: None,
                emergency_procedure: None,
                quick_replies: None,
            },
            licenses: first.licenses,
            owner_email: first.owner_email.clone(),
            owner_language: None,
            owner_country: None,
            owner_password_hash: self.app.access.passwords.hash(password.clone()).await?,
        };
        let made = self.app.store.create_first_account(new).await?;
        Ok(made.map(|(_, owner)| FirstOwner { email: owner.profile.email, password }))
    }

    /// Replaces the configured senders.
    pub fn send_by(&mut self, senders: Senders) {
        self.senders = senders;
    }

    /// The parts of the service.
    pub fn app(&self) -> &App {
        &self.app
    }

    /// The address of the listener, with the port the system chose.
    pub fn address(&self) -> SocketAddr {
        self.listener.local_addr()
    }

    /// The certificate, to reload it; none without TLS.
    pub fn tls(&self) -> Option<Tls> {
        self.tls.clone()
    }

    /// The address of the listener of `/metrics`, if there is one.
    pub fn metrics_address(&self) -> Option<SocketAddr> {
        self.metrics.as_ref().map(Listener::local_addr)
    }

    /// The addresses of the TCP and the UDP listener of a protocol, if it has one.
    pub fn gateway_addresses(&self, protocol: &str) -> (Option<SocketAddr>, Option<SocketAddr>) {
        self.gateways.addresses(protocol)
    }

    /// Whether the listener uses TLS.
    pub fn is_encrypted(&self) -> bool {
        self.tls.is_some()
    }

    /// The URL under which clients reach the service.
    pub fn base_url(&self) -> &BaseUrl {
        &self.app.base_url
    }

    /// Serves until it is stopped; then finishes accepted work, saves counters and closes the store.
    pub fn run<'a>(self, stop: impl Future<Output = ()> + Send + 'a) -> BoxFuture<'a, ShutdownReport> {
        self.run_until(Box::pin(stop))
    }

    fn run_until(self, stop: BoxFuture<'_, ()>) -> BoxFuture<'_, ShutdownReport> {
        Box::pin(self.serve_until(stop))
    }

    async fn serve_until(self, stop: BoxFuture<'_, ()>) -> ShutdownReport {
        let (channels, centre) =
            self.senders.into_channels(&self.app.config, &self.app.store, &self.app.clock);
        let jobs = Jobs::start(&self.app, &self.database, &channels, READ_REPORT, COMPOSE_NUDGE);
        let smpp = centre.as_ref().map(|centre| Arc::clone(&centre.sender));
        if let Some(centre) = centre {
            jobs.stay_bound(&self.app, centre);
        }
        let routes = router(self.app.clone());
        let app = self.app.clone();
        let stop = async move {
            stop.await;
            app.tasks.stopping.cancel();
        };
        // Kept until the store is closed: work that outlives its request runs on them.
        let threads = self.limits.threads.clone();
        let metrics_server = MetricsServer::start(self.metrics, &self.app, &self.limits);
        let gateways = self.gateways.start(&self.app.ingest, self.tls.as_ref());
        let report = serve(self.listener, self.tls, routes, self.limits, stop).await;
        gateways.stop().await;
        metrics_server.end().await;
        jobs.stop().await;
        // Closed after the jobs: messages that were being sent have their answers now.
        if let Some(smpp) = smpp {
            smpp.close().await;
        }
        self.app.tasks.background.close();
        if tokio::time::timeout(BACKGROUND_LIMIT, self.app.tasks.background.wait()).await.is_err() {
            tracing::warn!(
                tasks = self.app.tasks.background.len(),
                "work was still under way when the store closed"
            );
        }
        save_usage(&self.app).await;
        save_hours(&self.app).await;
        self.database.close().await;
        drop(threads);
        report
    }
}
