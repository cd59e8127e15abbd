//! Tests that need a server of their own, because it is set for the whole server or because the server goes away:
//! settings
//! that a power cut would make costly, a standby that has stopped, a server that is not there yet.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use perigee_core::error::StoreError;
use perigee_core::time::MockClock;
use perigee_store::testing::START;
use perigee_store::{Database, DatabaseUrl, OpenError, OpenOptions};
use tempfile::TempDir;

/// Names the folder of PostgreSQL's programs, where there is a choice.
const PROGRAMS: &str = "PERIGEE_PG_BIN";

/// A server's files and socket, in a folder that goes with this.
pub(crate) struct Cluster {
    programs: PathBuf,
    folder: TempDir,
}

impl Cluster {
    pub(crate) fn new() -> Self {
        let (programs, folder) = (programs(), TempDir::new().unwrap());
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(folder.path()));
        }
        let cluster = Self { programs, folder };
        let data = cluster.data();
        let options = ["--username=perigee", "--auth=trust", "--encoding=UTF8", "--locale=C", "--no-sync"];
        run(cluster.program("initdb").args(options).arg("--pgdata").arg(data));
        cluster
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// One of the server's programs, which do not run as root.
    pub(crate) fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = Command::new(if is_root() { OsStr::new("runuser") } else { program.as_os_str() });
        if is_root() {
            command.args(["-u", "postgres", "--"]).arg(&program);
        }
        command.current_dir("/");
        command
    }

    /// Starts the server with these settings; it ends when what this gives is dropped.
    pub(crate) fn start(&self, settings: &str) -> Running<'_> {
        let socket = self.folder.path().display();
        let options = format!("-c listen_addresses= -c unix_socket_directories={socket} {settings}");
        let log = self.folder.path().join("log");
        let mut start = self.program("pg_ctl");
        start.args(["start", "--silent", "--wait", "--options", &options, "--pgdata"]).arg(self.data());
        run(start.arg("--log").arg(log));
        Running(self)
    }

    /// The folder of its socket, as an address names a host.
    pub(crate) fn host(&self) -> String {
        self.folder.path().to_str().unwrap().replace('/', "%2F")
    }

    pub(crate) fn address(&self) -> String {
        format!("postgres://perigee@{}/postgres", self.host())
    }

    /// A copy of this running server that follows it under the name `standby`, not started yet.
    pub(crate) fn standby(&self) -> Self {
        let folder = TempDir::new().unwrap();
        if is_root() {
            run(Command::new("chown").arg("postgres").arg(folder.path()));
        }
        let standby = Self { programs: self.programs.clone(), folder };
        let primary = format!("host={} user=perigee application_name=standby", self.folder.path().display());
        let mut copy = standby.program("pg_basebackup");
        copy.args(["--write-recovery-conf", "--checkpoint=fast", "--no-sync", "--dbname", &primary]);
        run(copy.arg("--pgdata").arg(standby.data()));
        standby
    }

    async fn open(&self) -> Result<Database, OpenError> {
        self.open_with(OpenOptions::serve(), Duration::ZERO).await
    }

    async fn open_with(&self, options: OpenOptions, timeout: Duration) -> Result<Database, OpenError> {
        let url: DatabaseUrl = self.address().parse().unwrap();
        Database::open_within(&url, options, Arc::new(MockClock::at(START)), timeout).await
    }

    /// A connection that is none of the store's.
    pub(crate) async fn connect(&self) -> tokio_postgres::Client {
        let (client, connection) =
            tokio_postgres::connect(&self.address(), tokio_postgres::NoTls).await.unwrap();
        tokio::spawn(connection);
        client
    }
}

pub(crate) struct Running<'a>(&'a Cluster);

impl Drop for Running<'_> {
    fn drop(&mut self) {
        let mut stop = self.0.program("pg_ctl");
        let stop = stop.args(["stop", "--silent", "--wait", "--mode=immediate", "--pgdata"]);
        let _ = stop.arg(self.0.data()).status();
    }
}

fn is_root() -> bool {
    use std::os::unix::fs::MetadataExt as _;

    std::fs::metadata("/proc/self").is_ok_and(|own| own.uid() == 0)
}

pub(crate) fn run(command: &mut Command) {
    // To a file or nowhere: the server would keep a pipe open after the program that started it has ended.
    let status = command.stdout(std::process::Stdio::null()).status();
    assert!(status.as_ref().is_ok_and(std::process::ExitStatus::success), "{command:?}: {status:?}");
}

fn programs() -> PathBuf {
    let named = std::env::var_os(PROGRAMS).map(PathBuf::from);
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten();
    let mut installed: Vec<_> = installed.map(|version| version.unwrap().path().join("bin")).collect();
    installed.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = named.into_iter().chain(installed.into_iter().rev()).chain(std::env::split_paths(&path));
    let has_programs = |folder: &PathBuf| ["initdb", "pg_ctl"].iter().all(|name| folder.join(name).exists());
    let found = folders.into_iter().find(has_programs);
    found.unwrap_or_else(|| panic!("no PostgreSQL server programs found: name their folder in {PROGRAMS}"))
}

#[tokio::test]
async fn a_server_that_a_power_cut_destroys_is_refused() {
    let cluster = Cluster::new();
    for unsafe_setting in ["fsync", "full_page_writes"] {
        let _running = cluster.start(&format!("-c {unsafe_setting}=off"));
        let refused = cluster.open().await.unwrap_err();
        let named = matches!(
            &refused,
            OpenError::UnsafeSetting { setting, value, .. } if *setting == unsafe_setting && value == "off"
        );
        assert!(named, "{refused}");
        assert!(refused.to_string().contains("power cut"), "{refused}");
    }
    let _running = cluster.start("");
    cluster.open().await.unwrap().ping().await.unwrap();
}

#[tokio::test]
async fn a_server_that_is_away_is_waited_for() {
    let cluster = Cluster::new();
    let refused = cluster.open().await.unwrap_err();
    assert!(refused.is_transient() && refused.to_string().starts_with("cannot connect to "), "{refused}");
    // It begins to wait before the server is started, and is given more than that takes.
    let opening = cluster.open_with(OpenOptions::serve(), Duration::from_mins(5));
    let mut opening = std::pin::pin!(opening);
    let waited = tokio::time::timeout(Duration::from_millis(100), &mut opening).await;
    assert!(waited.is_err(), "nobody listens there");
    let running = cluster.start("");
    opening.await.unwrap().ping().await.unwrap();
    drop(running);
}

#[tokio::test]
async fn permanent_errors_are_not_retried() {
    let cluster = Cluster::new();
    let _running = cluster.start("");
    let url: DatabaseUrl = cluster.address().replace("/postgres", "/nowhere").parse().unwrap();
    let clock = Arc::new(MockClock::at(START));
    let refused = Database::open_within(&url, OpenOptions::serve(), clock, Duration::from_hours(1)).await;
    assert!(matches!(&refused, Err(OpenError::Connect { is_transient: false, .. })), "{refused:?}");
}

/// Adds a row to a table of the store.
async fn write(database: &Database, id: i64) -> Result<u64, StoreError> {
    let sql = "INSERT INTO probe (id) VALUES (?1)";
    let job = database
        .write(move |tx| Box::pin(async move { Ok(tx.execute(sql, perigee_store::params![id]).await?) }));
    job.await
}

/// Ends the wait of every commit for a standby; returns how many there were.
async fn cancel_waits(client: &tokio_postgres::Client) -> usize {
    let sql = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'";
    client.query(sql, &[]).await.unwrap().len()
}

/// A server whose commits wait for a standby that does not exist.
async fn start_without_its_standby(cluster: &Cluster) -> Running<'_> {
    {
        let _running = cluster.start("");
        cluster.open().await.unwrap().close().await;
        cluster.connect().await.batch_execute("CREATE TABLE probe (id BIGINT PRIMARY KEY)").await.unwrap();
    }
    cluster.start("-c synchronous_standby_names=nobody")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_whose_standby_was_given_up_is_not_acknowledged() {
    let cluster = Cluster::new();
    let _running = start_without_its_standby(&cluster).await;
    // Long enough for the wait to be ended by hand.
    let options = OpenOptions { answer_within: Duration::from_mins(5), ..OpenOptions::serve() };
    let database = cluster.open_with(options, Duration::ZERO).await.unwrap();
    let writing = tokio::spawn({
        let database = database.clone();
        async move { write(&database, 1).await }
    });
    let other = cluster.connect().await;
    while cancel_waits(&other).await == 0 {}
    let answer = writing.await.unwrap();
    assert!(matches!(answer, Err(StoreError::Unknown(_))), "{answer:?}");
    let stored = other.query("SELECT id FROM probe", &[]).await.unwrap();
    assert_eq!(stored.len(), 1, "it was committed here, and nowhere else");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_commit_that_hangs_is_answered_in_time() {
    let cluster = Cluster::new();
    let _running = start_without_its_standby(&cluster).await;
    let options =
        OpenOptions { answer_within: Duration::from_secs(2), connections: 4, ..OpenOptions::serve() };
    let database = cluster.open_with(options, Duration::ZERO).await.unwrap();
    let begun = std::time::Instant::now();
    let writes = (1..=9).map(|id| write(&database, id));
    let answers = futures_util::future::join_all(writes).await;
    assert!(begun.elapsed() < Duration::from_secs(20), "{:?}", begun.elapsed());
    let unknown = answers.iter().filter(|answer| matches!(answer, Err(StoreError::Unknown(_)))).count();
    assert_eq!(unknown, 2, "as many as may change at once: {answers:?}");
    assert!(
        answers
            .iter()
            .all(|answer| matches!(answer, Err(StoreError::Unknown(_) | StoreError::Unavailable(_))))
    );
    database.ping().await.expect("reading goes on");
    let other = cluster.connect().await;
    assert_eq!(cancel_waits(&other).await, 2);
}
