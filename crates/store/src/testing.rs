//! Scratch databases for tests: a directory of its own on SQLite, a schema of its own on PostgreSQL, or a database of its own
//! behind a pooler, which passes no search path on.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perigee_core::accounts::account::{AccountSettings, NewAccount};
use perigee_core::time::{MockClock, Timestamp};
use perigee_core::zone::Zone;
use tempfile::TempDir;
use tokio::sync::OnceCell;
use tokio_postgres::NoTls;

use crate::migration::POSTGRES;
pub use crate::sql::devices::create_device_without_lock;
pub use crate::sql::notifications::outbox::reserve_uncounted;
use crate::{Database, DatabaseUrl, Engine, OpenOptions};

/// Names the PostgreSQL server to test with, as a `postgres://` address.
pub const SERVER: &str = "PERIGEE_TEST_POSTGRES";

/// Names a pooler in front of that server, as a `postgres://` address without a database, to test through it.
pub const POOLER: &str = "PERIGEE_TEST_POOLER";

/// Where every scratch database's clock begins: 2026-01-01T00:00:00Z.
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
    /// The server's address with this database, to be dropped. A pooler passes no options on.
    Database {
        server: String,
        own: String,
        name: String,
        is_pooled: bool,
    },
}

impl Scratch {
    /// Creates one. Panics when PostgreSQL is asked for and no server is given, rather than skipping the test.
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
                    let own = with_database(&server, &name);
                    let storage = ScratchStorage::Database { server, own, name, is_pooled: true };
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

    /// Creates one whose tables exist already, as a copy: quicker than migrating it. Without a pooler, it is a database of its
    /// own on PostgreSQL.
    pub async fn migrated(engine: Engine) -> Self {
        if engine == Engine::Postgres && std::env::var(POOLER).is_err() {
            let (server, name, clock) = (server(), unused_name(), MockClock::at(START));
            let template = TEMPLATE_DATABASE.get_or_init(|| make_template_database(&server)).await;
            on_server(&server, &format!("CREATE DATABASE {name} TEMPLATE {template}")).await;
            let own = with_database(&server, &name);
            let url = own.parse().expect("the test server's address is valid");
            return Self {
                url,
                clock,
                storage: ScratchStorage::Database { server, own, name, is_pooled: false },
            };
        }
        let scratch = Self::new(engine).await;
        if let Some(path) = scratch.url.sqlite_path() {
            let template = TEMPLATE_FILE.get_or_init(make_template_file).await;
            std::fs::write(path, template).expect("the copy can be written");
        }
        scratch
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
            ScratchStorage::Database { own, .. } => {
                format!("{own}?options={options}").parse().expect("the test server's address is valid")
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
        OpenOptions { use_given_clock: true, connections: 8, ..OpenOptions::serve() }
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
            ScratchStorage::Database { own, .. } => on_server(own, sql).await,
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

/// An account with so many licences, for tests that need any.
pub fn new_account(licenses: u32) -> NewAccount {
    NewAccount {
        settings: AccountSettings {
            name: "acme".into(),
            time_zone: Zone::utc(),
            expiry_notice_days: 0,
            retention_days: None,
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
        let drop = match &self.storage {
            ScratchStorage::Directory { .. } => None,
            ScratchStorage::Schema { server, name } => {
                Some((server.clone(), format!("DROP SCHEMA IF EXISTS {name} CASCADE")))
            }
            ScratchStorage::Database { server, name, .. } => {
                Some((server.clone(), format!("DROP DATABASE IF EXISTS {name} WITH (FORCE)")))
            }
        };
        if let Some((server, sql)) = drop {
            // A runtime of its own: the test's cannot be blocked on from here, and may be unwinding.
            let work = std::thread::spawn(move || {
                let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
                if let Ok(runtime) = runtime {
                    runtime.block_on(on_server(&server, &sql));
                }
            });
            let _ = work.join();
        }
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

/// The content of a migrated SQLite file, and the name of a migrated database: constants that are made once in a process.
static TEMPLATE_FILE: OnceCell<Vec<u8>> = OnceCell::const_new();
static TEMPLATE_DATABASE: OnceCell<String> = OnceCell::const_new();

async fn make_template_file() -> Vec<u8> {
    let scratch = Scratch::new(Engine::Sqlite).await;
    scratch.open().await.close().await;
    let path = scratch.url.sqlite_path().expect("it is SQLite");
    std::fs::read(path).expect("the file can be read")
}

/// Makes a migrated database unless an earlier process did. Its name depends on the migrations.
async fn make_template_database(server: &str) -> String {
    let mut hasher = crc32fast::Hasher::new();
    for migration in POSTGRES {
        hasher.update(migration.sql.as_bytes());
    }
    let number = hasher.finalize();
    let (name, unfinished) = (format!("test_template_{number:08x}"), format!("test_unfinished_{number:08x}"));
    let (client, connection) =
        tokio_postgres::connect(server, NoTls).await.expect("the test server can be reached");
    let connection = tokio::spawn(connection);
    let run = async |sql: String| client.batch_execute(&sql).await.expect("the script runs");
    run(format!("SELECT pg_advisory_lock({number})")).await;
    let found = client.query("SELECT 1 FROM pg_database WHERE datname = $1", &[&name]).await;
    if found.expect("databases can be listed").is_empty() {
        run(format!("DROP DATABASE IF EXISTS {unfinished}")).await;
        run(format!("CREATE DATABASE {unfinished}")).await;
        let url = with_database(server, &unfinished).parse().expect("the test server's address is valid");
        let options = OpenOptions { use_given_clock: true, ..OpenOptions::serve() };
        let opened = Database::open(&url, options, Arc::new(MockClock::at(START))).await;
        opened.expect("the template opens").close().await;
        run(format!("ALTER DATABASE {unfinished} RENAME TO {name}")).await;
    }
    drop(client);
    let _ = connection.await;
    name
}

fn unused_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The process id alone could collide with a schema left by an earlier process of the same id.
    let chance = std::hash::BuildHasher::hash_one(&std::hash::RandomState::new(), count);
    format!("test_{}_{count}_{chance:016x}", std::process::id())
}

async fn on_server(server: &str, sql: &str) {
    let (client, connection) =
        tokio_postgres::connect(server, NoTls).await.expect("the test server can be reached");
    let connection = tokio::spawn(connection);
    client.batch_execute(sql).await.expect("the script runs");
    drop(client);
    let _ = connection.await;
}
