//! The store's clock: its last saved reading, its steps, and the trusted time by which age is measured before deleting.
//!
//! SQLite uses the machine's clock, PostgreSQL the server's. Either may be wrong for a while, above all after a start.
//! After a step ahead nothing is deleted by age until the step is confirmed; after a step back, leases and due times
//! that were written meanwhile are moved back by the same amount.

#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use futures_util::FutureExt as _;
use perigee_core::clock_watch::{ClockStep, ClockWatch};
use perigee_core::store::Result;
use perigee_core::time::{Clock, Monotonic, Timestamp};

use crate::tx::RowLock;
use crate::{Database, Engine, Tx, params};

/// How often a reading is saved while the clock makes no step.
const SAVE_EVERY_MS: i64 = 60_000;

/// Measures the monotonic time since this process last saved a reading.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    clock: Arc<dyn Clock>,
    saved: Mutex<Monotonic>,
}

impl Stopwatch {
    pub(crate) fn start(clock: Arc<dyn Clock>) -> Self {
        let saved = Mutex::new(clock.monotonic());
        Self { clock, saved }
    }

    fn elapsed(&self) -> (Duration, Monotonic) {
        let reading = self.clock.monotonic();
        (reading.since(*self.saved.lock().unwrap_or_else(PoisonError::into_inner)), reading)
    }

    fn restart(&self, reading: Monotonic) {
        *self.saved.lock().unwrap_or_else(PoisonError::into_inner) = reading;
    }
}

/// Reads the store's clock, records its steps, and returns the time by which age is measured before deleting. It is
/// never later than the clock.
pub(crate) async fn trusted_now(database: &Database) -> Result<Timestamp> {
    let (elapsed, reading) = database.stopwatch().elapsed();
    let known = database.read(|tx| async move { Ok((find(tx, "").await?, tx.now())) }.boxed()).await?;
    if let (Some(mut known), now) = known {
        let is_recent = now.as_millis() - known.seen.as_millis() < SAVE_EVERY_MS;
        if known.read(now, elapsed) == ClockStep::None && is_recent {
            return Ok(known.believed);
        }
    }
    let (watch, step) = database.write_background(move |tx| note(tx, elapsed).boxed()).await?;
    database.stopwatch().restart(reading);
    report(&watch, step);
    Ok(watch.believed)
}

/// Saves a reading of the clock, and moves times back if the clock was set back.
async fn note(tx: &Tx, elapsed: Duration) -> Result<(ClockWatch, ClockStep)> {
    let lock = tx.row_lock(RowLock::Update);
    let mut watch = match find(tx, lock).await? {
        Some(watch) => watch,
        None => ClockWatch::begin(newest_event(tx).await?.unwrap_or(tx.now())),
    };
    let step = watch.read(tx.now(), elapsed);
    if let ClockStep::Back { by_ms } = step {
        shorten_waits(tx, by_ms).await?;
    }
    let sql = "INSERT INTO store_clock (id, seen, believed, jump_ms, run_ms) VALUES (1, ?1, ?2, ?3, ?4) \
               ON CONFLICT (id) DO UPDATE SET seen = excluded.seen, believed = excluded.believed, \
                   jump_ms = excluded.jump_ms, run_ms = excluded.run_ms";
    tx.execute(sql, params![watch.seen, watch.believed, watch.jump_ms, watch.run_ms]).await?;
    Ok((watch, step))
}

async fn find(tx: &Tx, lock: &str) -> Result<Option<ClockWatch>> {
    let sql = format!("SELECT seen, believed, jump_ms, run_ms FROM store_clock WHERE id = 1 {lock}");
    let Some(row) = tx.query_opt(&sql, &[]).await? else { return Ok(None) };
    Ok(Some(ClockWatch {
        seen: row.timestamp("seen")?,
        believed: row.timestamp("believed")?,
        jump_ms: row.i64("jump_ms")?,
        run_ms: row.i64("run_ms")?,
    }))
}

/// The time of the newest event, for a store whose clock was never saved.
async fn newest_event(tx: &Tx) -> Result<Option<Timestamp>> {
    let sql = "SELECT MAX(e.at) AS at FROM account a JOIN event e ON e.account_id = a.id \
               AND e.number = (SELECT MAX(n.number) FROM event n WHERE n.account_id = a.id)";
    // An event later than the clock was written while a clock was ahead.
    Ok(tx.query_one(sql, &[]).await?.opt_timestamp("at")?.map(|at| at.min(tx.now())))
}

/// Leases, due times, and instants from which something waits: table, column, and a condition on the rows. A test
/// reads the schema and fails if a column of times is neither here nor listed in the test as one for which nothing
/// waits.
const WAITS: &[(&str, &str, &str)] = &[
    ("rule_follower", "leased_until", ""),
    ("timeline_follower", "leased_until", ""),
    ("device_watch", "due", ""),
    ("maintenance_plan", "evaluate_at", ""),
    ("float_plan", "base_at", ""),
    ("float_plan", "not_before", ""),
    ("float_plan", "paused_until", ""),
    ("float_plan", "step_at", ""),
    ("float_plan", "evaluate_at", ""),
    ("webhook", "held_until", ""),
    ("webhook_delivery", "next_at", "AND state = 'waiting'"),
    ("notification", "due", ""),
    ("overview", "claimed_until", ""),
    ("claim_proof", "window_from", ""),
    ("claim_proof", "window_until", ""),
    ("escalation", "started", ""),
    ("escalation", "due", ""),
    ("gateway_state", "next_poll", ""),
    ("gateway_state", "lease_until", ""),
    ("gateway_state", "late_at", ""),
    ("gateway_state", "refused_at", ""),
    ("gateway_state", "last_message", ""),
    ("gateway_state", "complete_to", ""),
    ("conversation_message", "due", "AND state IN ('queued', 'sending')"),
    ("command", "sent_at", "AND state = 'sent'"),
    ("saved_report", "due", ""),
    ("device_live", "last_seen", ""),
];

/// Moves each of these times that is in the future back by as much as the clock was set back. A due time that was
/// written before the clock was ahead then comes early, which costs one attempt; none comes late.
async fn shorten_waits(tx: &Tx, by_ms: i64) -> Result<()> {
    for (table, column, and) in WAITS {
        // The checksum of a state covers the time of the last contact; it is computed again later.
        let checksum = if *table == "device_live" { ", checksum = NULL" } else { "" };
        let sql = format!("UPDATE {table} SET {column} = {column} - ?2{checksum} WHERE {column} > ?1 {and}");
        tx.execute(&sql, params![tx.now(), by_ms]).await?;
    }
    if tx.engine() == Engine::Postgres {
        let sql = "UPDATE device_live SET pack_due = pack_due - ?2 WHERE pack_due > ?1";
        tx.execute(sql, params![tx.now(), by_ms]).await?;
    }
    if let Some(memory) = tx.memory().cloned() {
        let now = tx.now();
        tx.after_commit(move || memory.clock_set_back(now, by_ms));
    }
    Ok(())
}

fn report(watch: &ClockWatch, step: ClockStep) {
    match step {
        ClockStep::None => {}
        ClockStep::Ahead { by_ms } => tracing::warn!(
            ahead_s = by_ms / 1_000,
            believed_after_s = watch.confirmed_in_ms() / 1_000,
            now = %watch.seen,
            "the clock went ahead or the service was stopped: nothing is deleted by age until it has run for some time"
        ),
        ClockStep::Back { by_ms } => tracing::warn!(
            back_s = by_ms / 1_000,
            now = %watch.seen,
            "the clock was set back: leases and retries that waited for the later time are brought forward"
        ),
        ClockStep::Confirmed => {
            tracing::info!(now = %watch.seen, "the clock is believed again: what is old is deleted");
        }
    }
}
