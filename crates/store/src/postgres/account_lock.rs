//! The locks of an account. Its first lock is exclusive for changes that submissions rely on (devices, licences,
//! groups), and shared by submissions of locations. Everything else that changes the account, such as alerts, rounds
//! of the rule engine and timelines, shares the first lock too and takes a second one exclusively: it excludes all
//! changes, but no submission waits for it.
//!
//! PostgreSQL grants a lock in the order in which it was requested, so a change that waits for a submission keeps all
//! later submissions of the account waiting. A node that hangs in the middle of a submission would thus block the
//! account on all nodes. Therefore a change waits in that queue only briefly, leaves it, and tries again. As long as
//! a holder hangs, the change does not queue at all. Changes wait for each other at a second lock, so that only one
//! of them is in the queue at a time.

use std::time::Duration;

use futures_util::future::try_join;
use perigee_core::id::AccountId;
use tokio::time::{Instant, sleep};

use super::Session;
use super::locations::ANNOUNCE;
use crate::error::{DbError, Locked, describe};
use crate::params;

/// The first key of the lock at which changes of an account wait for each other.
const TURN_LOCK: i64 = 1_346_720_083;
/// The keys of the second lock of an account, in SQL: a number of ours, and the ID as far as it fits.
macro_rules! beside_key {
    ($account:literal) => {
        concat!("1346720084, CAST(", $account, " % 2147483647 AS INTEGER)")
    };
}
pub(super) use beside_key;

/// How long a change waits in the queue of the lock: the first time, and at most. Later submissions wait behind it.
const QUEUED_FIRST: Duration = Duration::from_millis(250);
const QUEUED_MAX: Duration = Duration::from_secs(1);
/// How long a change stays out of the queue.
const PAUSE: Duration = Duration::from_millis(100);

/// How long the holder of a lock of an account may send nothing before PostgreSQL ends its transaction. A node that
/// hangs delays the account for this time at most. A change sends its statements one after the other, so a node that
/// works is far below it.
const IDLE: &str = "SELECT set_config('idle_in_transaction_session_timeout', '1500ms', true)";
const TRY: &str = "SELECT pg_try_advisory_xact_lock(?1) AS is_free, \
    set_config('idle_in_transaction_session_timeout', '1500ms', true) AS idle";

/// Takes the locks of a change beside submissions, if they are free. The second one first, so that those who wait for it
/// do not share the first one meanwhile.
const TRY_BESIDE: &str = concat!(
    "SELECT CASE WHEN pg_try_advisory_xact_lock(",
    beside_key!("CAST($1 AS BIGINT)"),
    ") THEN pg_try_advisory_xact_lock_shared($1) ELSE FALSE END"
);

/// Whether a holder of the lock has sent nothing for half a second in the middle of a transaction.
const HOLDER_HANGS: &str = "SELECT EXISTS (SELECT 1 FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid \
    WHERE l.locktype = 'advisory' AND l.objsubid = 1 AND l.granted \
    AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database()) \
    AND (CAST(l.classid AS BIGINT) << 32) | CAST(l.objid AS BIGINT) = ?1 \
    AND a.state LIKE 'idle in transaction%' \
    AND a.state_change < clock_timestamp() - INTERVAL '500 milliseconds') AS holder_hangs";

/// Takes the lock exclusively until the end of the transaction.
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

/// Takes the locks of a change that excludes other changes, but no submission, until the end of the transaction. The
/// numbers of events that it appends must be announced, because submissions draw numbers meanwhile.
pub(crate) async fn lock_beside(session: &Session, account: AccountId) -> Result<(), DbError> {
    let key = account.as_i64();
    let [idle, lock] = session.prepare_native([IDLE, TRY_BESIDE]).await?;
    let (_set, locked) = try_join(session.run(&idle, &[]), session.run(&lock, &[&key])).await?;
    let is_free = locked.first().map(|row| row.try_get(0)).transpose();
    if is_free.map_err(|error| DbError::internal(describe(&error)))? == Some(true) {
        return Ok(());
    }
    let second = format!(beside_key!("CAST({key} AS BIGINT)"), key = key);
    let locks = format!("pg_advisory_xact_lock({second}), pg_advisory_xact_lock_shared({key})");
    session.run_script(&within(session.lock_wait(), &locks)).await
}

/// Announces to readers of the logs that events will be appended beside submissions.
pub(crate) async fn announce(session: &Session) -> Result<(), DbError> {
    let [announce] = session.prepare_native([ANNOUNCE]).await?;
    session.run(&announce, &[]).await.map(drop)
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
