//! `perigee verify`: reads the whole database and compares every checksum.

use std::fmt::Write as _;
use std::process::ExitCode;

use anyhow::{Result, bail};
use perigee_server::config::Config;
use perigee_store::{Damaged, Database, Progress, Report};

use super::open::Opened;
use crate::args::Common;
use crate::output::{Answer, print};
use crate::{progress, settings};

pub(crate) async fn run(common: &Common) -> Result<ExitCode> {
    let config = settings::load(common, Vec::new())?;
    require_current(&config).await?;
    let opened = Opened::existing(&config).await?;
    let bar = progress::bar("rows");
    let report = perigee_store::verify(opened.database(), &mut |Progress { done, all }| {
        bar.set_length(all);
        bar.set_position(done);
    })
    .await;
    bar.finish_and_clear();
    opened.close().await;
    let report = report?;
    print(&report, common.json)?;
    Ok(if report.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Refuses a database of another version: verifying must not migrate it.
pub(super) async fn require_current(config: &Config) -> Result<()> {
    let url = config.store.database_url()?;
    if let Some(path) = url.sqlite_path()
        && !path.exists()
    {
        bail!("there is no database at {}; choose another one with --data or --database", path.display());
    }
    if !Database::pending_migrations(&url).await?.is_empty() {
        bail!("the database is from an older version; run perigee migrate first");
    }
    Ok(())
}

/// A list of rows under a heading; empty if there are none.
pub(super) fn list(heading: &str, rows: &[Damaged]) -> String {
    let mut text = String::new();
    if !rows.is_empty() {
        let _ = write!(text, "\n{heading}:");
    }
    for row in rows {
        let _ = write!(text, "\n  {row}");
    }
    text
}

impl Answer for Report {
    fn in_words(&self) -> String {
        let mut text = format!("checked {} rows", self.rows);
        match self.damaged.len() {
            0 => text += ": no damage found",
            count => {
                let _ = write!(text, ": {count} damaged");
            }
        }
        text += &list("damaged", &self.damaged);
        if !self.is_sound() {
            text += "\nrun perigee repair to move damaged rows to quarantine and repair the rest";
        }
        if self.without_checksum > 0 {
            let count = self.without_checksum;
            let _ = write!(text, "\n{count} rows have no checksum yet; a running service adds it");
        }
        if self.quarantined > 0 {
            let count = self.quarantined;
            let _ = write!(text, "\n{count} rows are in the table quarantine from earlier");
        }
        for note in &self.notes {
            let _ = write!(text, "\nnote: {note}");
        }
        text
    }
}
