//! Verifying a store from end to end, a few rows at a time, so that a running server is not blocked.

use std::path::Path;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use perigee_core::store::Result;

use super::report::{Batch, Cursor, Progress, Report, START, of_database};
use super::source::Source;
use super::{chunk, database, log, rows};
use crate::database::Database;
use crate::error::describe;
use crate::sql::quarantine;
use crate::tx::Tx;

/// Checks the rows of a table after a cursor.
type Step = for<'t> fn(&'t Tx, Cursor) -> BoxFuture<'t, Result<Batch>>;

/// The packed tables, which every schema version has.
const PACKED: [(&str, Step); 2] = [
    ("location_log", |tx, after| log::check(tx, after, true).boxed()),
    ("location_chunk", |tx, after| chunk::check(tx, after).boxed()),
];
/// Like [`PACKED`], for a schema version without checksums.
const PACKED_OLD: [(&str, Step); 2] =
    [("location_log", |tx, after| log::check(tx, after, false).boxed()), PACKED[1]];
const ROWS: [(&str, Step); 6] = [
    ("last_location", |tx, after| rows::check_last(tx, after).boxed()),
    ("device_live", |tx, after| rows::check_states(tx, after).boxed()),
    ("alert", |tx, after| rows::check_alerts(tx, after).boxed()),
    ("device", |tx, after| rows::check_devices(tx, after).boxed()),
    ("rule_trail", |tx, after| rows::check_trails(tx, after).boxed()),
    ("rule_checkpoint", |tx, after| rows::check_checkpoints(tx, after).boxed()),
];

/// Verifies the whole store. A server may run meanwhile.
pub fn verify<'a>(
    database: &'a Database,
    progress: &'a mut (dyn FnMut(Progress) + Send),
) -> BoxFuture<'a, Result<Report>> {
    Box::pin(async move {
        run(&Source::Database(database), &[PACKED.as_slice(), ROWS.as_slice()].concat(), progress).await
    })
}

/// Verifies a SQLite file that no other process uses; `is_current` says whether its schema is up to date. Blocks.
pub(crate) fn verify_file(path: &Path, is_current: bool) -> Result<Report> {
    let source = match Source::file(path) {
        Ok(source) => source,
        Err(error) => return Ok(unreadable(error)),
    };
    let steps = if is_current { [PACKED.as_slice(), ROWS.as_slice()].concat() } else { PACKED_OLD.to_vec() };
    let checked = run(&source, &steps, &mut |_| {}).now_or_never();
    checked.unwrap_or_else(|| Ok(unreadable("it could not be read at once")))
}

fn unreadable(reason: impl std::fmt::Display) -> Report {
    Report { damaged: vec![of_database(reason)], ..Report::default() }
}

async fn run(
    source: &Source<'_>,
    steps: &[(&'static str, Step)],
    progress: &mut (dyn FnMut(Progress) + Send),
) -> Result<Report> {
    let mut report = Report::default();
    match source.read(|tx| database::check(tx).boxed()).await {
        Ok((damaged, notes)) => (report.damaged, report.notes) = (damaged, notes),
        Err(error) if source.is_damage(&error) => report.damaged.push(of_database(describe(&error))),
        Err(error) => return Err(error),
    }
    let tables: Vec<&'static str> = steps.iter().map(|(table, _)| *table).collect();
    let mut at = Progress { done: 0, all: count(source, tables).await.unwrap_or(0) };
    for (table, step) in steps {
        let (step, mut cursor) = (*step, Some(START));
        while let Some(after) = cursor {
            let batch = match source.read(move |tx| step(tx, after)).await {
                Ok(batch) => batch,
                Err(error) if source.is_damage(&error) => {
                    report
                        .damaged
                        .push(of_database(format!("cannot read the rest of {table}: {}", describe(&error))));
                    break;
                }
                Err(error) => return Err(error),
            };
            report.rows += batch.rows;
            report.without_checksum += batch.without_checksum;
            report.damaged.extend(batch.damaged);
            cursor = batch.next;
            at.done += batch.rows;
            at.all = at.all.max(at.done);
            progress(at);
        }
    }
    if steps.len() > PACKED.len() {
        report.quarantined = source.read(|tx| quarantine::count(tx).boxed()).await.unwrap_or(0);
    }
    Ok(report)
}

/// How many rows these tables hold, for the progress.
async fn count(source: &Source<'_>, tables: Vec<&'static str>) -> Result<u64> {
    source.read(move |tx| count_in(tx, tables).boxed()).await
}

async fn count_in(tx: &Tx, tables: Vec<&'static str>) -> Result<u64> {
    let mut all = 0;
    for table in tables {
        all += tx
            .query_one(&format!("SELECT COUNT(*) AS count FROM {table}"), &[])
            .await?
            .int::<u64>("count")?;
    }
    Ok(all)
}
