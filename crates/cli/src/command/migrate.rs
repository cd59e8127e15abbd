//! `perigee migrate`: migrates the database schema.

use std::process::ExitCode;

use anyhow::Result;
use perigee_store::{Database, Migration};
use serde::Serialize;

use super::open::Opened;
use crate::args::{Common, Migrate};
use crate::output::{Answer, print};
use crate::settings;

pub(crate) async fn run(common: &Common, options: &Migrate) -> Result<ExitCode> {
    let config = settings::load(common, Vec::new())?;
    let pending = Database::pending_migrations(&config.store.database_url()?).await?;
    let migrations = pending.iter().map(Step::from).collect();
    if options.check {
        print(&Pending { pending: migrations }, common.json)?;
        return Ok(if pending.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE });
    }
    Opened::or_new(&config).await?.close().await;
    print(&Applied { applied: migrations }, common.json)?;
    Ok(ExitCode::SUCCESS)
}

#[derive(Serialize)]
struct Step {
    version: i64,
    name: &'static str,
}

impl From<&Migration> for Step {
    fn from(migration: &Migration) -> Self {
        Self { version: migration.version, name: migration.name }
    }
}

#[derive(Serialize)]
struct Pending {
    pending: Vec<Step>,
}

#[derive(Serialize)]
struct Applied {
    applied: Vec<Step>,
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

fn in_words(what: &str, steps: &[Step]) -> String {
    if steps.is_empty() {
        return "the database is up to date".to_owned();
    }
    let lines: Vec<String> =
        steps.iter().map(|step| format!("{what}: {:04} {}", step.version, step.name)).collect();
    lines.join("\n")
}
