//! Scratch databases for tests: a directory of its own on SQLite, a schema of its own on PostgreSQL.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use perigee_core::time::{MockClock, Timestamp};
use tempfile::TempDir;
use tokio_postgres::NoTls;

pub use crate::sql::devices::create_device_without_lock;
pub use crate::sql::outbox::reserve_uncounted;
use crate::{Database, DatabaseUrl, Engine, OpenOptions};

/// Names the PostgreSQL server to test with, as a `postgres://` address.
pub const SERVER: &str = "PERIGEE_TEST_POSTGRES";

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

/// An empty place for a database that goes when this does, and the clock of what is opened there.
#[derive(Debug)]
pub struct Scratch {
    url: DatabaseUrl,
    clock: MockClock,
    /// Holds the file, or gives it a name to be dropped by.
    place: Place,
}

#[derive(Debug)]
enum Place {
    Directory { _kept: TempDir },
    Schema { server: String, name: String },
}

impl Scratch {
    /// Makes one. Panics when PostgreSQL is asked for and no server is given, rather than to skip the test.
    pub async fn new(engine: Engine) -> Self {
        let clock = MockClock::at(START);
        match engine {
            Engine::Sqlite => {
                let directory = TempDir::new().expect("a temporary directory can be made");
                let url = DatabaseUrl::sqlite(directory.path().join("perigee.db"));
                Self { url, clock, place: Place::Directory { _kept: directory } }
            }
            Engine::Postgres => {
                let server = std::env::var(SERVER).unwrap_or_else(|_unset| {
                    panic_without_server();
                });
                let name = schema_name();
                on_server(&server, &format!("CREATE SCHEMA {name}")).await;
                let join = if server.contains('?') { '&' } else { '?' };
                let url = format!("{server}{join}options=-c%20search_path%3D{name}");
                let url = url.parse().expect("the test server's address is valid");
                Self { url, clock, place: Place::Schema { server, name } }
            }
        }
    }

    /// Where it is.
    pub fn url(&self) -> &DatabaseUrl {
        &self.url
    }

    /// The same place with further options of PostgreSQL's command line, each as `-c%20name%3Dvalue`.
    pub fn url_with(&self, options: &str) -> DatabaseUrl {
        match &self.place {
            Place::Directory { .. } => self.url.clone(),
            Place::Schema { server, name } => {
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

    /// Options as a server has, with this place's clock.
    pub fn options(&self) -> OpenOptions {
        OpenOptions { use_given_clock: true, connections: 8, ..OpenOptions::serve() }
    }

    /// Opens it as a server would.
    pub async fn open(&self) -> Database {
        let clock = Arc::new(self.clock.clone());
        Database::open(&self.url, self.options(), clock).await.expect("the scratch database opens")
    }

    /// Runs a script directly, with no migration before it and no rule of ours applied.
    pub async fn run(&self, sql: &str) {
        match &self.place {
            Place::Directory { .. } => {
                let path = self.url.sqlite_path().expect("a directory is for SQLite");
                let connection = rusqlite::Connection::open(path).expect("the scratch file opens");
                connection.execute_batch(sql).expect("the script runs");
            }
            Place::Schema { server, name } => {
                on_server(server, &format!("SET search_path = {name}; {sql}")).await;
            }
        }
    }
}

/// What kind of column is damaged.
#[derive(Clone, Copy, Debug)]
pub enum Flip {
    /// One bit in the middle of its bytes.
    Bytes,
    /// One bit of its first letter.
    Text,
    /// One bit of its number, or the one beside it.
    Number,
}

impl Scratch {
    /// Flips a bit of a column in every row of a table that meets the condition, past every rule of the store and by
    /// a connection of its own, as a bad disk would.
    pub async fn flip(&self, table: &str, column: &str, kind: Flip, condition: &str) {
        if let Place::Directory { .. } = self.place {
            let value = match kind {
                Flip::Bytes | Flip::Text => format!("flip({column})"),
                Flip::Number => format!("{column} + 4"),
            };
            let path = self.url.sqlite_path().expect("a directory is for SQLite");
            let connection = rusqlite::Connection::open(path).expect("the scratch file opens");
            let flags = rusqlite::functions::FunctionFlags::SQLITE_UTF8;
            connection.create_scalar_function("flip", 1, flags, flipped).expect("a function can be made");
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
            Flip::Number => format!("{column} + 4"),
        };
        self.run(&format!("UPDATE {table} SET {column} = {value} WHERE {condition}")).await;
    }
}

fn flipped(call: &rusqlite::functions::Context<'_>) -> rusqlite::Result<rusqlite::types::Value> {
    let flip = |bytes: &[u8], place: usize| {
        let mut bytes = bytes.to_vec();
        bytes[place] ^= 1;
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

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Place::Schema { server, name } = &self.place {
            let (server, sql) = (server.clone(), format!("DROP SCHEMA IF EXISTS {name} CASCADE"));
            // A runtime of its own: the test's cannot be waited for from here, and may be unwinding.
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

fn schema_name() -> String {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    // The process id alone would meet the leavings of an earlier process of the same number.
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
