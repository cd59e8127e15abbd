//! The service under test.

use std::sync::Arc;

use axum::Router;
use perigee_core::time::MockClock;
use perigee_server::app::App;
use perigee_server::auth::password::{PasswordCost, Passwords};
use perigee_server::config::{BaseUrl, Config};
use perigee_server::http::router::{EVENT_FORMAT, router};
use perigee_store::testing::Scratch;
use perigee_store::{Database, Engine};
use tempfile::TempDir;

/// A service on a scratch store. Dropping it drops the store.
pub(crate) struct TestApp {
    pub(crate) app: App,
    pub(crate) router: Router,
    pub(crate) store: Database,
    pub(crate) scratch: Scratch,
    /// Where it keeps files beside the store.
    _data: TempDir,
}

impl TestApp {
    /// A service with the default settings.
    pub(crate) async fn new(engine: Engine) -> Self {
        Self::with(engine, |_| {}).await
    }

    /// A service with other settings.
    pub(crate) async fn with(engine: Engine, change: impl FnOnce(&mut Config)) -> Self {
        let scratch = Scratch::migrated(engine).await;
        let store = scratch.open().await;
        let data = tempfile::tempdir().expect("a temporary directory can be made");
        let mut config = default_config();
        data.path().clone_into(&mut config.store.data);
        change(&mut config);
        let app = build(&store, scratch.clock(), config).await;
        Self { router: router(app.clone()), app, store, scratch, _data: data }
    }

    /// Another node on the same store, with nothing remembered.
    pub(crate) async fn second_node(&self) -> Router {
        router(build(&self.store, self.scratch.clock(), default_config()).await)
    }

    /// The clock of service and store.
    pub(crate) fn clock(&self) -> &MockClock {
        self.scratch.clock()
    }
}

/// A service on an open store.
pub(crate) async fn build(store: &Database, clock: &MockClock, config: Config) -> App {
    let base_url =
        if config.server.base_url.is_empty() { "http://perigee.test" } else { &config.server.base_url };
    let base_url = BaseUrl::parse(base_url).expect("the base address is valid");
    let passwords = Passwords::new(PasswordCost::CHEAPEST).expect("the cost is valid");
    App::build(config, base_url, Arc::new(store.clone()), Arc::new(clock.clone()), passwords, EVENT_FORMAT)
        .await
        .expect("the service can be built")
}

/// The settings of `config.default.toml`.
pub(crate) fn default_config() -> Config {
    toml::from_str(include_str!("../../../../../config.default.toml"))
        .expect("the default settings are valid")
}
