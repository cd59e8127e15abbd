//! `perigee restore`: replaces the embedded database by a copy.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use perigee_core::time::{Clock, SystemClock};
use perigee_store::{Damaged, Restored};
use serde::Serialize;

use super::backup::{damaged_rows, embedded_store};
use super::verify::list;
use crate::args::{Common, Restore};
use crate::output::{Answer, print};
use crate::settings;

pub(crate) fn run(common: &Common, options: &Restore) -> Result<()> {
    let config = settings::load(common, Vec::new())?;
    let store = embedded_store(&config, "pg_restore --clean --if-exists --dbname=DATABASE FILE")?;
    let rows = damaged_rows(options.allow_damaged);
    let done = perigee_store::restore(&options.file, &store, rows, SystemClock.now())?;
    let Restored { bytes, kept, pending_migrations, damaged } = done;
    print(&Done { store, bytes, kept, pending_migrations, damaged }, common.json)
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Done {
    store: PathBuf,
    bytes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<PathBuf>,
    pending_migrations: usize,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    damaged: Vec<Damaged>,
}

impl Answer for Done {
    fn in_words(&self) -> String {
        let mut text = format!("restored {}, {} bytes", self.store.display(), self.bytes);
        if let Some(kept) = &self.kept {
            let _ = write!(text, "\nthe old database is kept as {}", kept.display());
        }
        if self.pending_migrations > 0 {
            text += "\nthe copy is from an older version; the next start migrates it";
        }
        text + &list("damaged", &self.damaged)
    }
}
