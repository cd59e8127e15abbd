//! Opens the database for a command, which may run beside a server.

use std::sync::Arc;

use anyhow::{Result, anyhow, bail};
use perigee_core::access::credential::Login;
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
    /// Opens the database, or creates it.
    pub(crate) async fn or_new(config: &Config) -> Result<Self> {
        let (url, clock) = (config.store.database_url()?, SystemClock);
        let allow_synchronous_commit = config.store.allow_synchronous_commit.clone();
        let options = OpenOptions { allow_synchronous_commit, ..OpenOptions::command() };
        Ok(Self { database: Database::open(&url, options, Arc::new(clock)).await?, clock })
    }

    /// Opens an existing database: a command with a mistyped path must not create an empty one.
    pub(crate) async fn existing(config: &Config) -> Result<Self> {
        if let Some(path) = config.store.database_url()?.sqlite_path()
            && !path.exists()
        {
            bail!("there is no database at {}; choose another one with --data or --database", path.display());
        }
        Self::or_new(config).await
    }

    /// The traits of the store.
    pub(crate) fn store(&self) -> &dyn Store {
        &self.database
    }

    /// The database behind it.
    pub(crate) fn database(&self) -> &Database {
        &self.database
    }

    /// The time by the database's clock.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Finds the user with this address, or fails.
    pub(crate) async fn login(&self, email: &Email) -> Result<Login> {
        let found = self.database.find_login(email).await?;
        found.ok_or_else(|| {
            anyhow!("no user has the address {}; check the spelling and the database", email.as_str())
        })
    }

    /// Finishes accepted work and closes the database.
    pub(crate) async fn close(self) {
        self.database.close().await;
    }
}
