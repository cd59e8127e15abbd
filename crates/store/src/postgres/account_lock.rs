//! The lock of an account: exclusive for changes of the account, shared by submissions of locations.
//!
//! PostgreSQL grants a lock in the order in which it was requested, so a change that waits for a submission keeps all
//! later submissions of the account waiting. A node that hangs in the middle of a submission would thus block the
//! account on all nodes. Therefore a change waits in that queue only briefly, leaves it, and tries again. As long as
//! a holder hangs, the change does not queue at all. Changes wait for each other at a second lock, so that only one
//! of them is in the queue at a time.

use std::time::Duration;

use perigee_core::id::AccountId;
use tokio::time::{Instant, sleep};

use super::Session;
use crate::error::{DbError, Locked};
use crate::params;

/// The first key of the lock at which changes of an account wait for each other.
const TURN_LOCK: i64 = 1_346_720_083;
/// How long a change waits in the queue of the lock: the first time, and at most. Later submissions wait behind it.
const QUEUED_FIRST: Duration = Duration::from_millis(250);
const QUEUED_MAX: Duration = Duration::from_secs(1);
/// How long a change stays out of the queue.
const PAUSE: Duration = Duration::from_millis(100);

const TRY: &str = "SELECT pg_try_advisory_xact_lock(?1) AS is_free";

/// Whether a holder of the lock has sent nothing for half a second in the middle of a transaction.
const HOLDER_HANGS: &str = "SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted \
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND (CAST(l.classid AS BIGINT) << 32) | CAST(l.objid AS BIGINT) = ?1 \
    AND a.state LIKE 'idle in transaction%' \
    AND a.state_change < clock_timestamp() - INTERVAL '500 milliseconds') AS holder_hangs";

/// Takes the lock until the end of the transaction.
pub(crate) async fn lock(session: &Session, account: AccountId) -> Result<(), DbError> {
    if try_lock(session, account).await? {
        return Ok(());
    }
    let until = Instant::now() + session.lock_wait();
    wait_for_turn(session, account).await?;
    let (mut queued, mut may_queue) = (QUEUED_FIRST, true);
    loop {
        let is_locked = if may_queue {
            wait_in_queue(session, account, queued).await?
        } else {
            try_lock(session, account).await?
        };
        if is_locked {
            return Ok(());
        }
        if Instant::now() + PAUSE >= until {
            let cause = "others change the account or store its locations, and did not finish in time";
            return Err(DbError::unavailable(Locked(cause)));
        }
        sleep(PAUSE).await;
        let holder_hangs = session.query(HOLDER_HANGS, params![account]).await?;
        may_queue = !holder_hangs.first().map_or(Ok(false), |row| row.bool("holder_hangs"))?;
        queued = (queued * 2).min(QUEUED_MAX);
    }
}

async fn try_lock(session: &Session, account: AccountId) -> Result<bool, DbError> {
    let rows = session.query(TRY, params![account]).await?;
    rows.first().map_or(Ok(false), |row| row.bool("is_free"))
}

/// Waits for other changes of the account. A transaction that cannot wait any longer fails.
async fn wait_for_turn(session: &Session, account: AccountId) -> Result<(), DbError> {
    let lock = format!("pg_advisory_xact_lock({TURN_LOCK}, {})", account.as_i64() % i64::from(i32::MAX));
    session.run_script(&within(session.lock_wait(), &lock)).await
}

/// Waits in the queue of the lock for this long; returns whether it was granted.
async fn wait_in_queue(session: &Session, account: AccountId, time: Duration) -> Result<bool, DbError> {
    let lock = format!("pg_advisory_xact_lock({})", account.as_i64());
    let script = format!("SAVEPOINT queued; {}; RELEASE SAVEPOINT queued", within(time, &lock));
    match session.run_script(&script).await {
        Ok(()) => Ok(true),
        Err(DbError::Unavailable(_)) => {
            // This fails too if the cause was the connection rather than the time limit.
            session.run_script("ROLLBACK TO SAVEPOINT queued; RELEASE SAVEPOINT queued").await?;
            Ok(false)
        }
        Err(error) => Err(error),
    }
}

/// SQL that takes a lock with this time limit, and restores the limit that was set before.
fn within(time: Duration, lock: &str) -> String {
    let set = |value: &str| format!("SELECT set_config('lock_timeout', {value}, true)");
    format!(
        "SELECT set_config('perigee.lock_timeout', current_setting('lock_timeout'), true); {}; SELECT {lock}; {}",
        set(&format!("'{}ms'", time.as_millis())),
        set("current_setting('perigee.lock_timeout')"),
    )
}
