//! `perigee migrate`: migrates the database schema.

use std::process::ExitCode;

use anyhow::Result;
use perigee_store::{Database, Distributed, Migration, OpenError};
use serde::Serialize;

use super::open::Opened;
use crate::args::{Common, Migrate};
use crate::output::{Answer, print};
use crate::settings;

/// Runs `perigee migrate`. With `--check` it only lists the pending migrations, and fails if there are any; with
/// `--distribute` it distributes the tables after that.
pub(crate) async fn run(common: &Common, options: &Migrate) -> Result<ExitCode> {
    let config = settings::load(common, Vec::new())?;
    let url = config.store.database_url()?;
    if options.distribute && url.sqlite_path().is_some() {
        return Err(OpenError::NoCitus.into());
    }
    let pending = Database::pending_migrations(&url).await?;
    let migrations = pending.iter().map(MigrationView::from).collect();
    if options.check {
        print(&Pending { pending: migrations }, common.json)?;
        return Ok(if pending.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    // Opening the database applies the pending migrations.
    Opened::or_new(&config).await?.close().await;
    if options.distribute {
        let Distributed { reference, distributed } = Database::distribute(&url).await?;
        print(&AppliedAndDistributed { applied: migrations, reference, distributed }, common.json)?;
    } else {
        print(&Applied { applied: migrations }, common.json)?;
    }
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct MigrationView {
    version: i64,
    name: &'static str,
}

impl From<&Migration> for MigrationView {
    fn from(migration: &Migration) -> Self {
        Self { version: migration.version, name: migration.name }
    }
}

#[derive(Serialize)]
struct Pending {
    pending: Vec<MigrationView>,
}

#[derive(Serialize)]
struct Applied {
    applied: Vec<MigrationView>,
}

#[derive(Serialize)]
struct AppliedAndDistributed {
    applied: Vec<MigrationView>,
    /// Tables of which every server now has a full copy.
    reference: Vec<String>,
    /// Tables that are distributed by account now.
    distributed: Vec<String>,
}

impl Answer for AppliedAndDistributed {
    fn in_words(&self) -> String {
        let applied = in_words("applied", &self.applied);
        if self.reference.is_empty() && self.distributed.is_empty() {
            return format!("{applied}\nall tables are distributed already");
        }
        let whole = self.reference.join(", ");
        format!("{applied}\nwhole on every server: {whole}\ndistributed: {}", self.distributed.join(", "))
    }
}

impl Answer for Pending {
    fn in_words(&self) -> String {
        in_words("to be applied", &self.pending)
    }
}

impl Answer for Applied {
    fn in_words(&self) -> String {
        in_words("applied", &self.applied)
    }
}

/// One line per migration, or that there is none.
fn in_words(status: &str, migrations: &[MigrationView]) -> String {
    if migrations.is_empty() {
        return "the database is up to date".to_owned();
    }
    let lines: Vec<String> = migrations
        .iter()
        .map(|migration| format!("{status}: {:04} {}", migration.version, migration.name))
        .collect();
    lines.join("\n")
}
