//! A streaming standby that histories are read from, when it has everything that was committed before.
//!
//! Whoever reads asks the primary up to where its log is written. The standby is used once it has replayed up to there, so
//! that a reader sees everything that any node has acknowledged. If that takes longer than the bound, the primary is read.

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

/// How long a standby that was away or behind is not asked again.
const REST: Duration = Duration::from_secs(1);
/// The first pause between two looks at how far the standby is, and the longest.
const FIRST_PAUSE: Duration = Duration::from_millis(1);
const LONGEST_PAUSE: Duration = Duration::from_millis(20);

/// A server that was promoted has no position of the primary any more.
const HAS_REPLAYED: &str =
    "SELECT pg_is_in_recovery() AND pg_last_wal_replay_lsn() >= CAST(CAST($1 AS TEXT) AS pg_lsn)";

/// The standby, with connections of its own.
#[derive(Debug)]
pub(crate) struct Replica {
    pool: Pool,
    shared: Arc<Shared>,
    /// How long a reader waits until the standby has everything.
    lag: Duration,
    /// Until when it is not used.
    rests: Mutex<Option<Instant>>,
}

impl Replica {
    /// A replica that need not be there yet. It shares how statements are sent with the primary.
    pub(crate) fn new(
        address: &PostgresAddress,
        (connections, lag): (usize, Duration),
        shared: Arc<Shared>,
    ) -> Result<Self, OpenError> {
        let mut address = address.clone();
        address.config.target_session_attrs(TargetSessionAttrs::Any);
        let pool = pool::build_unchecked(&address, connections)?;
        Ok(Self { pool, shared, lag, rests: Mutex::default() })
    }

    /// Whether it is worth asking.
    pub(crate) fn is_expected(&self) -> bool {
        let rests = *self.rests.lock().unwrap_or_else(PoisonError::into_inner);
        rests.is_none_or(|until| until <= Instant::now())
    }

    /// A snapshot of the standby that has everything up to this position of the primary; none if it cannot be had in time.
    pub(crate) async fn begin(&self, position: &str) -> Option<Session> {
        let failure = match timeout(self.lag, self.begin_after(position)).await {
            Ok(Ok(session)) => return Some(session),
            Ok(Err(error)) => error.to_string(),
            Err(_elapsed) => format!("it is more than {} ms behind", self.lag.as_millis()),
        };
        let until = Instant::now() + REST;
        *self.rests.lock().unwrap_or_else(PoisonError::into_inner) = Some(until);
        tracing::debug!(failure, rest_s = REST.as_secs(), "the primary is read until the replica has rested");
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

    /// Gives out no more connections.
    pub(crate) fn close(&self) {
        self.pool.close();
    }
}

async fn has_replayed(client: &Object, position: &str) -> Result<bool, DbError> {
    let row = client.query_typed_one(HAS_REPLAYED, &[(&position, Type::TEXT)]).await;
    let has_replayed: Option<bool> = row.and_then(|row| row.try_get(0)).map_err(DbError::unavailable)?;
    Ok(has_replayed.unwrap_or(false))
}
