//! Opens the store for a command, which may run beside a server.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use perigee_core::credential::Login;
use perigee_core::store::{Credentials, Store};
use perigee_core::text::Email;
use perigee_core::time::{Clock, SystemClock, Timestamp};
use perigee_server::config::Config;
use perigee_store::{Database, OpenOptions};

/// A store opened for a command.
pub(crate) struct Opened {
    database: Database,
    clock: SystemClock,
}

impl Opened {
    /// Opens the store, or makes it.
    pub(crate) async fn or_new(config: &Config) -> Result<Self> {
        let (url, clock) = (config.store.database_url()?, SystemClock);
        let allow_synchronous_commit = config.store.allow_synchronous_commit.clone();
        let options = OpenOptions { allow_synchronous_commit, ..OpenOptions::command() };
        Ok(Self { database: Database::open(&url, options, Arc::new(clock)).await?, clock })
    }

    /// Opens a store that is there: a command on a mistyped path shall not leave an empty store behind.
    pub(crate) async fn existing(config: &Config) -> Result<Self> {
        if let Some(path) = config.store.database_url()?.sqlite_path()
            && !path.exists()
        {
            bail!("there is no store at {}; name the one you mean with --data or --database", path.display());
        }
        Self::or_new(config).await
    }

    /// The store.
    pub(crate) fn store(&self) -> &dyn Store {
        &self.database
    }

    /// The database behind it.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// The present.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The user with this address.
    pub(crate) async fn login(&self, email: &Email) -> Result<Login> {
        let found = self.database.find_login(email).await?;
        found.ok_or_else(|| anyhow!("no user of this store has the address {}; check it", email.as_str()))
    }

    /// Lets go of the store.
    pub(crate) async fn close(self) {
        self.database.close().await;
    }
}
