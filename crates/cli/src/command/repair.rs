//! `perigee repair`: moves damaged rows to quarantine and lists what was lost and for whom.

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;

use anyhow::Result;
use perigee_core::time::{Clock as _, SystemClock};
use perigee_store::{Database, OpenOptions, Progress, Repaired};

use super::verify::{list, require_current};
use crate::args::Common;
use crate::output::{Answer, print};
use crate::{progress, settings};

/// Runs `perigee repair`. A SQLite file is opened with the server's lock, so that no server can run at the same time.
pub(crate) async fn run(common: &Common) -> Result<ExitCode> {
    let config = settings::load(common, Vec::new())?;
    require_current(&config).await?;
    // Taken before the database is opened: opening already quarantines damaged rows, which belong in the report.
    let started = SystemClock.now();
    let url = config.store.database_url()?;
    let options = OpenOptions {
        readers: 1,
        connections: 2,
        allow_synchronous_commit: config.store.allow_synchronous_commit.clone(),
        ..OpenOptions::serve()
    };
    let database = Database::open(&url, options, Arc::new(SystemClock)).await?;
    let bar = progress::bar("rows");
    let repaired = perigee_store::repair(&database, started, &mut |Progress { done, all }| {
        bar.set_length(all);
        bar.set_position(done);
    })
    .await;
    bar.finish_and_clear();
    database.close().await;
    let repaired = repaired?;
    print(&repaired, common.json)?;
    Ok(if repaired.after.is_sound() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

impl Answer for Repaired {
    fn in_words(&self) -> String {
        let mut text = match self.set_aside.len() {
            0 => "nothing had to be moved to quarantine".to_owned(),
            count => format!("{count} rows were damaged; what they held is kept in the table quarantine"),
        };
        text += &list("moved to quarantine", &self.set_aside);
        text += &list("still damaged", &self.after.damaged);
        if !self.after.is_sound() {
            let _ = write!(text, "\nrestore a backup to get back what is still damaged");
        }
        text
    }
}
