//! Scratch databases for tests: a temporary directory on SQLite, a separate schema or database on PostgreSQL. Behind
//! a pooler it is always a database, because a pooler does not pass the search path on. With a Citus cluster, the
//! tables of migrated storage are distributed.

mod cluster;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::BoxFuture;
use perigee_core::accounts::account::{AccountSettings, NewAccount};
use perigee_core::time::{MockClock, Timestamp};
use perigee_core::zone::Zone;
use tempfile::TempDir;
use tokio::sync::OnceCell;
use tokio_postgres::NoTls;

pub use self::cluster::WORKERS;
use crate::migration::POSTGRES;
pub use crate::sql::devices::create_device_without_lock;
pub use crate::sql::locations::submit_locations_without_check;
pub use crate::sql::notifications::outbox::reserve_uncounted;
pub use crate::sql::reports::finish_report_unmarked;
use crate::{Database, DatabaseUrl, Engine, OpenOptions};

/// The environment variable with the `postgres://` address of the PostgreSQL server to test with.
pub const SERVER: &str = "PERIGEE_TEST_POSTGRES";

/// The environment variable with the `postgres://` address, without a database, of a pooler to test through.
pub const POOLER: &str = "PERIGEE_TEST_POOLER";

/// The start time of the clock of every scratch database: 2026-01-01T00:00:00Z.
pub const START: Timestamp = Timestamp::from_millis(1_767_225_600_000);

/// Makes a test of each function, `sqlite::name` and `postgres::name`, from `async fn name(engine: Engine)`.
#[macro_export]
macro_rules! on_both_engines {
    ($($name:ident),+ $(,)?) => {
        mod sqlite {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::Engine::Sqlite).await;
            })+
        }

        mod postgres {
            $(#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn $name() {
                super::$name($crate::Engine::Postgres).await;
            })+
        }
    };
}

/// Storage for one test database, removed on drop, and the clock of the databases opened there.
#[derive(Debug)]
pub struct Scratch {
    url: DatabaseUrl,
    clock: MockClock,
    /// The temporary directory, or the schema to drop.
    storage: ScratchStorage,
}

#[derive(Debug)]
enum ScratchStorage {
    Directory {
        _kept: TempDir,
    },
    Schema {
        server: String,
        name: String,
    },
    /// A database to drop; `address` is that of the server with this database. A pooler does not pass options on.
    Database {
        server: String,
        address: String,
        name: String,
        is_pooled: bool,
    },
    /// The same on a Citus cluster, with a database of this name on every server.
    Cluster {
        coordinator: String,
        address: String,
        name: String,
    },
}

impl Scratch {
    /// Creates empty storage. Panics when PostgreSQL is requested and no server is given, rather than skipping the
    /// test.
    pub async fn new(engine: Engine) -> Self {
        let clock = MockClock::at(START);
        match engine {
            Engine::Sqlite => {
                let directory = TempDir::new().expect("a temporary directory can be made");
                let url = DatabaseUrl::sqlite(directory.path().join("perigee.db"));
                Self { url, clock, storage: ScratchStorage::Directory { _kept: directory } }
            }
            Engine::Postgres => {
                let server = server();
                let name = unused_name();
                if let Ok(pooler) = std::env::var(POOLER) {
                    on_server(&server, &format!("CREATE DATABASE {name}")).await;
                    let url = format!("{pooler}/{name}?prepared=false");
                    let url = url.parse().expect("the pooler's address is valid");
                    let address = with_database(&server, &name);
                    let storage = ScratchStorage::Database { server, address, name, is_pooled: true };
                    return Self { url, clock, storage };
                }
                on_server(&server, &format!("CREATE SCHEMA {name}")).await;
                let join = if server.contains('?') { '&' } else { '?' };
                let url = format!("{server}{join}options=-c%20search_path%3D{name}");
                let url = url.parse().expect("the test server's address is valid");
                Self { url, clock, storage: ScratchStorage::Schema { server, name } }
            }
        }
    }

    /// Creates storage whose tables exist already, as a copy of a template, which is quicker than migrating. Behind a
    /// pooler the storage is empty, and opening it migrates it.
    pub async fn migrated(engine: Engine) -> Self {
        if engine == Engine::Postgres && !cluster::workers().is_empty() {
            let (coordinator, name, clock) = (server(), unused_name(), MockClock::at(START));
            cluster::create(&coordinator, &name).await;
            let address = with_database(&coordinator, &name);
            let url = address.parse().expect("the coordinator's address is valid");
            return Self { url, clock, storage: ScratchStorage::Cluster { coordinator, address, name } };
        }
        if engine == Engine::Postgres && std::env::var(POOLER).is_err() {
            let (server, name, clock) = (server(), unused_name(), MockClock::at(START));
            let template = TEMPLATE_DATABASE.get_or_init(|| make_template_database(&server)).await;
            on_server(&server, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
            let address = with_database(&server, &name);
            let url = address.parse().expect("the test server's address is valid");
            return Self {
                url,
                clock,
                storage: ScratchStorage::Database { server, address, name, is_pooled: false },
            };
        }
        let scratch = Self::new(engine).await;
        if let Some(path) = scratch.url.sqlite_path() {
            let template = TEMPLATE_FILE.get_or_init(make_template_file).await;
            std::fs::write(path, template).expect("the copy can be written");
        }
        scratch
    }

    /// Creates an empty database on the Citus cluster, with the extension and the workers. Panics without a cluster.
    pub async fn on_cluster() -> Self {
        assert!(!cluster::workers().is_empty(), "{WORKERS} is not set: run scripts/test --citus");
        let (coordinator, name, clock) = (server(), unused_name(), MockClock::at(START));
        cluster::create_empty(&coordinator, &name).await;
        let address = with_database(&coordinator, &name);
        let url = address.parse().expect("the coordinator's address is valid");
        Self { url, clock, storage: ScratchStorage::Cluster { coordinator, address, name } }
    }

    /// The address to open a database with.
    pub fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// The same address with further PostgreSQL command-line options, each as `-c%20name%3Dvalue`.
    pub fn url_with(&self, options: &str) -> DatabaseUrl {
        match &self.storage {
            ScratchStorage::Directory { .. } | ScratchStorage::Database { is_pooled: true, .. } => {
                self.url.clone()
            }
            ScratchStorage::Database { address, .. } | ScratchStorage::Cluster { address, .. } => {
                format!("{address}?options={options}").parse().expect("the test server's address is valid")
            }
            ScratchStorage::Schema { server, name } => {
                let join = if server.contains('?') { '&' } else { '?' };
                let url = format!("{server}{join}options=-c%20search_path%3D{name}%20{options}");
                url.parse().expect("the test server's address is valid")
            }
        }
    }

    /// The clock of the databases opened here.
    pub fn clock(&self) -> &MockClock {
        &self.clock
    }

    /// A server's options, with the clock of this storage.
    pub fn options(&self) -> OpenOptions {
        // Long enough that no test fails because the machine is busy.
        let answer_within = Duration::from_mins(1);
        OpenOptions { use_given_clock: true, connections: 8, answer_within, ..OpenOptions::serve() }
    }

    /// Opens the database as a server would.
    pub async fn open(&self) -> Database {
        let clock = Arc::new(self.clock.clone());
        Database::open(&self.url, self.options(), clock).await.expect("the scratch database opens")
    }

    /// Runs a script directly, without migrations and past all checks of the store.
    pub async fn run(&self, sql: &str) {
        match &self.storage {
            ScratchStorage::Directory { .. } => {
                let path = self.url.sqlite_path().expect("a directory is for SQLite");
                let connection = rusqlite::Connection::open(path).expect("the scratch file opens");
                connection.execute_batch(sql).expect("the script runs");
            }
            ScratchStorage::Schema { server, name } => {
                on_server(server, &format!("SET search_path = {name}; {sql}")).await;
            }
            ScratchStorage::Database { address, .. } | ScratchStorage::Cluster { address, .. } => {
                on_server(address, sql).await;
            }
        }
    }
}

/// How [`Scratch::flip`] damages a column.
#[derive(Clone, Copy, Debug)]
pub enum Flip {
    /// Flips one bit in the middle of its bytes.
    Bytes,
    /// Flips one bit of its first letter.
    Text,
    /// Flips this bit of a number, 0 being the lowest.
    Bit(u32),
    /// Flips a boolean.
    Truth,
}

impl Scratch {
    /// Damages a column in every row of a table that meets the condition, through a separate connection and past all
    /// checks of the store, as a failing disk would.
    pub async fn flip(&self, table: &str, column: &str, kind: Flip, condition: &str) {
        if let ScratchStorage::Directory { .. } = self.storage {
            let value = match kind {
                Flip::Bytes | Flip::Text => format!("flip({column})"),
                Flip::Bit(bit) => format!("({column} | (1 << {bit})) - ({column} & (1 << {bit}))"),
                Flip::Truth => format!("1 - {column}"),
            };
            let path = self.url.sqlite_path().expect("a directory is for SQLite");
            let connection = rusqlite::Connection::open(path).expect("the scratch file opens");
            let flags = rusqlite::functions::FunctionFlags::SQLITE_UTF8;
            connection.create_scalar_function("flip", 1, flags, flipped).expect("a function can be made");
            connection.pragma_update(None, "ignore_check_constraints", true).expect("a pragma can be set");
            let sql = format!("UPDATE {table} SET {column} = {value} WHERE {condition}");
            assert!(connection.execute(&sql, []).expect("a bit is flipped") > 0, "no row of {table}");
            return;
        }
        // A view on PostgreSQL, through which Citus cannot write.
        let (table, column) = match table {
            "last_location" => ("device_live", format!("last_{column}")),
            table => (table, column.to_owned()),
        };
        let value = match kind {
            Flip::Bytes => {
                format!(
                    "set_byte({column}, length({column}) / 2, get_byte({column}, length({column}) / 2) # 1)"
                )
            }
            Flip::Text => format!("overlay({column} placing chr(ascii(left({column}, 1)) # 1) from 1)"),
            Flip::Bit(bit) => format!("{column} # (CAST(1 AS BIGINT) << {bit})"),
            Flip::Truth => format!("NOT {column}"),
        };
        self.run(&format!("UPDATE {table} SET {column} = {value} WHERE {condition}")).await;
    }
}

fn flipped(call: &rusqlite::functions::Context<'_>) -> rusqlite::Result<rusqlite::types::Value> {
    let flip = |bytes: &[u8], index: usize| {
        let mut bytes = bytes.to_vec();
        bytes[index] ^= 1;
        bytes
    };
    Ok(match call.get_raw(0) {
        rusqlite::types::ValueRef::Blob(bytes) => flip(bytes, bytes.len() / 2).into(),
        rusqlite::types::ValueRef::Text(text) => {
            String::from_utf8(flip(text, 0)).expect("the first letter is ASCII").into()
        }
        other => return Err(rusqlite::Error::InvalidFunctionParameterType(0, other.data_type())),
    })
}

/// An account with this many licences, for tests.
pub fn new_account(licenses: u32) -> NewAccount {
    NewAccount {
        settings: AccountSettings {
            name: "acme".into(),
            time_zone: Zone::utc(),
            expiry_notice_days: 0,
            retention_days: None,
            emergency_procedure: None,
            quick_replies: None,
        },
        licenses,
        owner_email: "owner@acme.example".parse().expect("an address"),
        owner_language: None,
        owner_country: None,
        owner_password_hash: "hash".into(),
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let drop: BoxFuture<'static, ()> = match &self.storage {
            ScratchStorage::Directory { .. } => return,
            ScratchStorage::Schema { server, name } => {
                let (server, sql) = (server.clone(), format!("DROP SCHEMA IF EXISTS {name} CASCADE"));
                async move { on_server(&server, &sql).await }.boxed()
            }
            ScratchStorage::Database { server, name, .. } => {
                let (server, sql) = (server.clone(), format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)"));
                async move { on_server(&server, &sql).await }.boxed()
            }
            ScratchStorage::Cluster { coordinator, name, .. } => {
                let (coordinator, name) = (coordinator.clone(), name.clone());
                async move { cluster::drop(&coordinator, &name).await }.boxed()
            }
        };
        // A separate runtime: this code cannot block on the test's runtime, and the test may be unwinding.
        let work = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            if let Ok(runtime) = runtime {
                runtime.block_on(drop);
            }
        });
        let _ = work.join();
    }
}

#[expect(clippy::panic, reason = "a test that cannot run must fail")]
fn panic_without_server() -> ! {
    panic!("{SERVER} is not set: run scripts/test, which starts a PostgreSQL server for the tests");
}

fn server() -> String {
    std::env::var(SERVER).unwrap_or_else(|_unset| panic_without_server())
}

/// The address of another database on the same server.
fn with_database(server: &str, name: &str) -> String {
    let (base, _) = server.rsplit_once('/').expect("the server's address has a database");
    format!("{base}/{name}")
}

/// The content of a migrated SQLite file and the name of a migrated database, each made once per process.
static TEMPLATE_FILE: OnceCell<Vec<u8>> = OnceCell::const_new();
static TEMPLATE_DATABASE: OnceCell<String> = OnceCell::const_new();

async fn make_template_file() -> Vec<u8> {
    let scratch = Scratch::new(Engine::Sqlite).await;
    scratch.open().await.close().await;
    let path = scratch.url.sqlite_path().expect("it is SQLite");
    std::fs::read(path).expect("the file can be read")
}

/// The name of the template, which depends on the migrations.
fn template_name() -> String {
    format!("test_template_{:08x}", template_number())
}

fn template_number() -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    for migration in POSTGRES {
        hasher.update(migration.sql.as_bytes());
    }
    hasher.finalize()
}

/// Held while a template is made, so that processes do not make it at the same time.
struct TemplateLock {
    client: tokio_postgres::Client,
    connection: tokio::task::JoinHandle<Result<(), tokio_postgres::Error>>,
}

impl TemplateLock {
    async fn take(server: &str) -> Self {
        let (client, connection) =
            tokio_postgres::connect(server, NoTls).await.expect("the test server can be reached");
        let lock = Self { client, connection: tokio::spawn(connection) };
        lock.run(&format!("SELECT pg_advisory_lock({})", template_number())).await;
        lock
    }

    async fn run(&self, sql: &str) {
        self.client.batch_execute(sql).await.expect("the script runs");
    }

    /// Whether there is a database with this name.
    async fn exists(&self, name: &str) -> bool {
        let found = self.client.query("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await;
        !found.expect("databases can be listed").is_empty()
    }

    async fn release(self) {
        drop(self.client);
        let _ = self.connection.await;
    }
}

/// Makes a migrated database unless an earlier process did.
async fn make_template_database(server: &str) -> String {
    let (name, unfinished) = (template_name(), format!("test_unfinished_{:08x}", template_number()));
    let lock = TemplateLock::take(server).await;
    if !lock.exists(&name).await {
        lock.run(&format!("DROP DATABASE IF EXISTS {unfinished}")).await;
        lock.run(&format!("CREATE DATABASE {unfinished}")).await;
        let url = with_database(server, &unfinished).parse().expect("the test server's address is valid");
        let options = OpenOptions { use_given_clock: true, ..OpenOptions::serve() };
        let opened = Database::open(&url, options, Arc::new(MockClock::at(START))).await;
        opened.expect("the template opens").close().await;
        lock.run(&format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await;
    }
    lock.release().await;
    name
}

fn unused_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The process id alone could collide with a schema left by an earlier process of the same id.
    let random = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), count);
    format!("test_{}_{count}_{random:016x}", std::process::id())
}

async fn on_server(server: &str, sql: &str) {
    let (client, connection) =
        tokio_postgres::connect(server, NoTls).await.expect("the test server can be reached");
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await.expect("the script runs");
    drop(client);
    let _ = connection.await;
}
