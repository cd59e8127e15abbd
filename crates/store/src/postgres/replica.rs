//! A streaming standby that histories are read from, when it has everything that was committed before.
//!
//! A reader asks the primary for the position of its log. The standby is used once it has replayed up to this position,
//! so that a reader sees everything that any node has acknowledged. If that takes longer than the limit, the primary is
//! read.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};
use tokio_postgres::config::TargetSessionAttrs;
use tokio_postgres::types::Type;

use super::engine::SNAPSHOT;
use super::pool::{self, Object, Pool};
use super::session::{Session, Shared};
use crate::error::{DbError, OpenError};
use crate::url::PostgresAddress;

/// How long histories are read from the primary before an unreachable or lagging standby is tried again.
const RETRY_AFTER: Duration = Duration::from_secs(1);
/// The first and the longest pause between two checks of the standby's position.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// False on a server that was promoted: its position no longer says what it has of the primary.
const HAS_REPLAYED: &str =
    "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= CAST(CAST($1 AS TEXT) AS pg_lsn)";

/// The standby, with connections of its own.
#[derive(Debug)]
pub(crate) struct Replica {
    pool: Pool,
    shared: Arc<Shared>,
    /// How long a reader waits until the standby has everything.
    lag: Duration,
    /// The time until which it is not used.
    paused_until: Mutex<Option<Instant>>,
}

impl Replica {
    /// A replica, which need not be reachable yet. Statements are sent to it in the same way as to the primary.
    pub(crate) fn new(
        address: &PostgresAddress,
        (connections, lag): (usize, Duration),
        shared: Arc<Shared>,
    ) -> Result<Self, OpenError> {
        let mut address = address.clone();
        address.config.target_session_attrs(TargetSessionAttrs::Any);
        let pool = pool::build_unchecked(&address, connections)?;
        Ok(Self { pool, shared, lag, paused_until: Mutex::default() })
    }

    /// Whether a read should try the standby.
    pub(crate) fn should_try(&self) -> bool {
        let paused_until = *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner);
        paused_until.is_none_or(|until| until <= Instant::now())
    }

    /// A snapshot of the standby with everything up to this position of the primary; `None` if that takes too long.
    pub(crate) async fn begin(&self, position: &str) -> Option<Session> {
        let failure = match timeout(self.lag, self.begin_after(position)).await {
            Ok(Ok(session)) => return Some(session),
            Ok(Err(error)) => error.to_string(),
            Err(_elapsed) => format!("it is more than {} ms behind", self.lag.as_millis()),
        };
        let until = Instant::now() + RETRY_AFTER;
        *self.paused_until.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
        let retry_after_s = RETRY_AFTER.as_secs();
        tracing::debug!(failure, retry_after_s, "the primary is read until the replica is tried again");
        None
    }

    async fn begin_after(&self, position: &str) -> Result<Session, DbError> {
        let client = self.pool.get().await?;
        let mut pause = FIRST_PAUSE;
        while !has_replayed(&client, position).await? {
            sleep(pause).await;
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
        Ok(Session::begin(client, Arc::clone(&self.shared), Some(SNAPSHOT), None).await?.0)
    }

    /// Hands out no more connections.
    pub(crate) fn close(&self) {
        self.pool.close();
    }
}

async fn has_replayed(client: &Object, position: &str) -> Result<bool, DbError> {
    let row = client.query_typed_one(HAS_REPLAYED, &[(&position, Type::TEXT)]).await;
    let has_replayed: Option<bool> = row.and_then(|row| row.try_get(0)).map_err(DbError::unavailable)?;
    Ok(has_replayed.unwrap_or(false))
}
