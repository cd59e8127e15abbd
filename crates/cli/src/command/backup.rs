//! `perigee backup`: copies the embedded database while the service runs.

use std::path::{Path, PathBuf};

use anyhow::{Result, anyhow};
use perigee_core::time::{Clock as _, SystemClock};
use perigee_server::config::Config;
use perigee_server::http::routes::accounts::operator::LAST_BACKUP;
use perigee_store::{BackedUp, Damaged, DamagedRows, back_up};
use serde::Serialize;

use super::verify::list;
use crate::args::{Backup, Common};
use crate::output::{Answer, print};
use crate::{progress, settings};

pub(crate) fn run(common: &Common, options: &Backup) -> Result<()> {
    let config = settings::load(common, Vec::new())?;
    let store = embedded_store(&config, "pg_dump --format=custom --file=FILE DATABASE")?;
    let bar = progress::bar("pages");
    let rows = damaged_rows(options.allow_damaged);
    let done = back_up(&store, &options.file, rows, &mut |done, all| {
        bar.set_length(all);
        bar.set_position(done);
    })?;
    bar.finish_and_clear();
    note_backup(&store);
    let BackedUp { bytes, damaged } = done;
    print(&Copied { store, file: options.file.clone(), bytes, damaged }, common.json)
}

/// How damaged rows are treated.
pub(super) const fn damaged_rows(are_allowed: bool) -> DamagedRows {
    if are_allowed { DamagedRows::Allow } else { DamagedRows::Refuse }
}

/// Writes the time of the backup beside the database, for the operator's page. A failure does not make the backup
/// invalid.
fn note_backup(store: &Path) {
    let noted = std::fs::write(store.with_file_name(LAST_BACKUP), format!("{}\n", SystemClock.now()));
    if let Err(error) = noted {
        eprintln!("perigee: cannot write the time of the backup beside the database: {error}");
    }
}

/// The file of the embedded database; for PostgreSQL an error that names the command to use instead.
pub(super) fn embedded_store(config: &Config, on_postgres: &str) -> Result<PathBuf> {
    let url = config.store.database_url()?;
    url.sqlite_path().map(ToOwned::to_owned).ok_or_else(|| {
        anyhow!("this database is on PostgreSQL, which has its own tools: use {on_postgres} (docs/operations/backup.md)")
    })
}

#[derive(Serialize)]
struct Copied {
    store: PathBuf,
    file: PathBuf,
    bytes: u64,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<Damaged>,
}

impl Answer for Copied {
    fn in_words(&self) -> String {
        let (store, file) = (self.store.display(), self.file.display());
        format!("copied {store} to {file}, {} bytes, checked{}", self.bytes, list("damaged", &self.damaged))
    }
}
