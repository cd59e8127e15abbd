//! Servers set so that a power cut would cost data are refused, shown on a server of our own: these settings are of
//! the whole server, and the one the other tests use must keep what it has.

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use perigee_core::time::MockClock;
use perigee_store::testing::START;
use perigee_store::{Database, DatabaseUrl, OpenError, OpenOptions};
use tempfile::TempDir;

/// Names the folder of PostgreSQL's programs, where there is a choice.
const PROGRAMS: &str = "PERIGEE_PG_BIN";

/// A server's files and socket, in a folder that goes with this.
struct Cluster {
    programs: PathBuf,
    folder: TempDir,
}

impl Cluster {
    fn new() -> Self {
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

    fn data(&self) -> PathBuf {
        self.folder.path().join("data")
    }

    /// One of the server's programs, which do not run as root.
    fn program(&self, name: &str) -> Command {
        let program = self.programs.join(name);
        let mut command = Command::new(if is_root() { OsStr::new("runuser") } else { program.as_os_str() });
        if is_root() {
            command.args(["-u", "postgres", "--"]).arg(&program);
        }
        command.current_dir("/");
        command
    }

    /// Starts the server with these settings; it ends when what this gives is dropped.
    fn start(&self, settings: &str) -> Running<'_> {
        let socket = self.folder.path().display();
        let options = format!("-c listen_addresses= -c unix_socket_directories={socket} {settings}");
        let log = self.folder.path().join("log");
        let mut start = self.program("pg_ctl");
        start.args(["start", "--silent", "--wait", "--options", &options, "--pgdata"]).arg(self.data());
        run(start.arg("--log").arg(log));
        Running(self)
    }

    async fn open(&self) -> Result<Database, OpenError> {
        let folder = self.folder.path().to_str().unwrap().replace('/', "%2F");
        let url: DatabaseUrl = format!("postgres://perigee@{folder}/postgres").parse().unwrap();
        Database::open(&url, OpenOptions::serve(), Arc::new(MockClock::at(START))).await
    }
}

struct Running<'a>(&'a Cluster);

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

fn run(command: &mut Command) {
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
    let places = named.into_iter().chain(installed.into_iter().rev()).chain(std::env::split_paths(&path));
    let has_programs = |place: &PathBuf| ["initdb", "pg_ctl"].iter().all(|name| place.join(name).exists());
    let found = places.into_iter().find(has_programs);
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
