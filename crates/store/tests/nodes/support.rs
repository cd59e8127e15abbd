//! Nodes on one database, sample locations, and queries for connections that wait for each other.

use std::sync::Arc;
use std::time::Duration;

use perigee_core::access::actor::{Actor, Origin};
use perigee_core::accounts::account::{AccountSettings, NewAccount};
use perigee_core::devices::device::DeviceSettings;
use perigee_core::id::{AccountId, DeviceId};
use perigee_core::locations::location::{
    HistoryRequest, Latitude, Location, Longitude, Order, Readings, StoredLocation, TimeRange,
};
use perigee_core::store::{Accounts as _, Devices as _, Locations as _};
use perigee_core::time::{Clock as _, MockClock, Timestamp};
use perigee_store::testing::Scratch;
use perigee_store::{Database, Engine, OpenOptions, Tx, Value, params};

/// Nodes that share a database.
pub(crate) struct Nodes {
    scratch: Scratch,
    pub(crate) all: Vec<Database>,
}

impl Nodes {
    pub(crate) async fn new(count: usize) -> Self {
        let scratch = Scratch::migrated(Engine::Postgres).await;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(scratch.open().await);
        }
        Self { scratch, all }
    }

    /// One more node, which may hang for as long as a test takes: neither the node nor the server ends its
    /// transactions.
    pub(crate) async fn that_may_hang(&self) -> Database {
        let url = self.scratch.url_with("-c%20idle_in_transaction_session_timeout%3D10min");
        let options = OpenOptions { answer_within: Duration::from_mins(10), ..self.scratch.options() };
        Database::open(&url, options, Arc::new(self.clock().clone())).await.unwrap()
    }

    /// One more node, with this time limit for requests.
    pub(crate) async fn that_answers_within(&self, answer_within: Duration) -> Database {
        let options = OpenOptions { answer_within, ..self.scratch.options() };
        Database::open(self.scratch.url(), options, Arc::new(self.clock().clone())).await.unwrap()
    }

    pub(crate) fn clock(&self) -> &MockClock {
        self.scratch.clock()
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.clock().now()
    }

    /// Creates an account with this name; returns its operator.
    pub(crate) async fn account(&self, name: &str) -> Actor {
        let new = NewAccount {
            settings: AccountSettings {
                name: name.into(),
                time_zone: "UTC".parse().unwrap(),
                expiry_notice_days: 0,
                retention_days: None,
                emergency_procedure: None,
                quick_replies: None,
            },
            licenses: 100,
            owner_email: format!("owner@{name}.example").parse().unwrap(),
            owner_language: None,
            owner_country: None,
            owner_password_hash: "hash".into(),
        };
        Actor::operator(self.all[0].create_account(&Origin::command(), new).await.unwrap().0.id)
    }

    pub(crate) async fn device(&self, actor: &Actor) -> DeviceId {
        let settings = DeviceSettings { name: "device".into(), ..DeviceSettings::default() };
        self.all[0].create_device(actor, settings, None).await.unwrap().into_inner().id
    }

    /// How many rows of the device the table has.
    pub(crate) async fn rows(&self, table: &str, device: DeviceId) -> i64 {
        let sql = format!("SELECT COUNT(*) AS n FROM {table} WHERE device_id = ?1");
        number(&self.all[0], sql, params![device]).await
    }
}

/// The number that a statement answers with.
pub(crate) async fn number(node: &Database, sql: impl Into<String>, values: &[Value]) -> i64 {
    let (sql, values) = (sql.into(), values.to_vec());
    let job = node.read(move |tx| Box::pin(async move { Ok(tx.query_one(&sql, &values).await?.i64(0)?) }));
    job.await.unwrap()
}

/// A location at this time, its position computed from the time and near all others.
pub(crate) fn fix(time: Timestamp) -> Location {
    let degrees = f64::from(i32::try_from(time.as_millis() / 1_000 % 80).unwrap()) / 100_000.0 + 1.0;
    Location {
        time,
        latitude: Latitude::from_degrees(degrees).unwrap(),
        longitude: Longitude::from_degrees(degrees).unwrap(),
        readings: Readings::default(),
    }
}

/// Reads the feed from this cursor to its end, and moves the cursor there.
pub(crate) async fn follow(
    node: &Database,
    actor: &Actor,
    cursor: &mut i64,
) -> Vec<(DeviceId, StoredLocation)> {
    let mut seen = Vec::new();
    loop {
        let part = node.list_location_feed(actor.scope, *cursor, 50).await.unwrap();
        seen.extend(part.items);
        if part.next == *cursor {
            break seen;
        }
        *cursor = part.next;
    }
}

/// The whole history, oldest first.
pub(crate) async fn history(node: &Database, actor: &Actor, device: DeviceId) -> Vec<StoredLocation> {
    let request =
        HistoryRequest { range: TimeRange::ALL, order: Order::Ascending, after: None, limit: 100_000 };
    node.list_locations(actor.scope, device, request).await.unwrap().items
}

/// The process id of the server for the connection of this job.
pub(crate) async fn backend(tx: &Tx) -> i64 {
    let sql = "SELECT CAST(pg_backend_pid() AS BIGINT) AS pid";
    tx.query_one(sql, &[]).await.unwrap().i64("pid").unwrap()
}

/// Waits until another connection waits for this one, or until `over` is true. Returns the process id of the one that
/// waits.
pub(crate) async fn waiting_for(node: &Database, pid: i64, over: impl Fn() -> bool) -> Option<i64> {
    let sql = "SELECT CAST(COALESCE(MIN(pid), 0) AS BIGINT) FROM pg_stat_activity \
               WHERE CAST(?1 AS INTEGER) = ANY (pg_blocking_pids(pid))";
    loop {
        let waiting = number(node, sql, params![pid]).await;
        if waiting != 0 {
            return Some(waiting);
        }
        if over() {
            return None;
        }
    }
}

/// Holds the locks that statements take until it is released; then their changes are committed.
pub(crate) struct Holder {
    pub(crate) pid: i64,
    release: tokio::sync::oneshot::Sender<()>,
    job: tokio::task::JoinHandle<()>,
}

impl Holder {
    pub(crate) async fn new(node: &Database, statements: Vec<(&'static str, Vec<Value>)>) -> Self {
        let (begun, has_begun) = tokio::sync::oneshot::channel();
        let (release, released) = tokio::sync::oneshot::channel();
        let node = node.clone();
        let job = tokio::spawn(async move {
            let job = node.write(move |tx| {
                Box::pin(async move {
                    for (sql, values) in statements {
                        tx.query(sql, &values).await?;
                    }
                    begun.send(backend(tx).await).unwrap();
                    let _ = released.await;
                    Ok(())
                })
            });
            job.await.unwrap();
        });
        Self { pid: has_begun.await.unwrap(), release, job }
    }

    pub(crate) async fn let_go(self) {
        self.release.send(()).unwrap();
        self.job.await.unwrap();
    }
}

/// The exclusive lock of an account, as changes of the account take it; submissions share the lock.
pub(crate) fn lock(account: AccountId) -> (&'static str, Vec<Value>) {
    ("SELECT pg_advisory_xact_lock(?1)", params![account].to_vec())
}
