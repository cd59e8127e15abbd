//! A server under measurement: its process, its store, its devices.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::Options;
use crate::http::Connection;
use crate::machine::{self, Usage};

const OWNER: &str = "owner@localhost";

/// A running server.
pub(crate) struct Server {
    perigee: PathBuf,
    folder: TempDir,
    database: Option<String>,
    child: Child,
    /// The host and the port.
    pub(crate) address: String,
    pub(crate) token: String,
    /// The identifiers of the devices.
    pub(crate) devices: Vec<String>,
    /// From the start of the process until it listened.
    pub(crate) ready_after: Duration,
}

impl Server {
    /// Starts one on a store of its own and makes the devices.
    pub(crate) async fn start(options: &Options, database: Option<String>) -> Result<Self> {
        let folder = TempDir::new_in(&options.scratch)?;
        let (child, address, ready_after) = spawn(&options.perigee, &folder, database.as_deref())?;
        let mut server = Self {
            perigee: options.perigee.clone(),
            folder,
            database,
            child,
            address,
            token: String::new(),
            devices: (0..options.devices).map(|index| format!("bench-{index:05}")).collect(),
            ready_after,
        };
        let key = server.command(&["key", "issue", "--email", OWNER])?;
        let mut connection = Connection::open(&server.address).await?;
        let body = json!({"userName": OWNER, "apiKey": key["apiKey"]}).to_string();
        let answer = connection.call("POST /api/Auth/Token", "", body.as_bytes()).await?;
        let answer: Value = serde_json::from_slice(answer.body)?;
        server.token = answer["token"].as_str().context("no token was given")?.to_owned();
        for identifier in &server.devices {
            let body = json!({"name": identifier, "identifier": identifier}).to_string();
            let answer = connection.call("POST /api/devices", &server.token, body.as_bytes()).await?;
            if answer.status != 201 {
                bail!("cannot make a device: {}", String::from_utf8_lossy(answer.body));
            }
        }
        Ok(server)
    }

    fn command(&self, line: &[&str]) -> Result<Value> {
        let output = settings(&self.perigee, &self.folder, self.database.as_deref())
            .args(line)
            .arg("--json")
            .output()?;
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{line:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    /// What the process has used so far.
    pub(crate) fn usage(&self) -> Result<Usage> {
        machine::usage(self.child.id())
    }

    /// Stops it and starts it again on the same store.
    pub(crate) fn restart(&mut self) -> Result<Duration> {
        self.end()?;
        let (child, address, ready_after) = spawn(&self.perigee, &self.folder, self.database.as_deref())?;
        (self.child, self.address, self.ready_after) = (child, address, ready_after);
        Ok(ready_after)
    }

    /// The bytes of the files of an embedded store.
    pub(crate) fn store_bytes(&self) -> Option<u64> {
        let files = std::fs::read_dir(self.folder.path().join("data")).ok()?;
        let stored =
            files.flatten().filter(|file| file.file_name().to_string_lossy().starts_with("perigee.db"));
        self.database.is_none().then(|| stored.filter_map(|file| Some(file.metadata().ok()?.len())).sum())
    }

    fn end(&mut self) -> Result<()> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        self.child.wait()?;
        Ok(())
    }

    /// Ends it and removes its store.
    pub(crate) fn stop(mut self) -> Result<()> {
        self.end()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _already_gone = self.child.kill();
        let _already_waited_for = self.child.wait();
    }
}

fn settings(perigee: &Path, folder: &TempDir, database: Option<&str>) -> Command {
    let mut command = Command::new(perigee);
    command
        .env("PERIGEE_STORE__DATA", folder.path().join("data"))
        .env("PERIGEE_STORE__DATABASE", database.unwrap_or_default())
        .env("PERIGEE_LIMITS__REQUESTS_PER_SECOND", "10000000")
        .env("PERIGEE_LIMITS__BURST", "10000000")
        .env("PERIGEE_SERVER__MAX_CONNECTIONS_PER_ADDRESS", "5000")
        .env("PERIGEE_AUTH__TOKEN_SECONDS", "86400")
        .env("PERIGEE_FIRST_START__LICENSES", "1000000")
        .stdin(Stdio::null());
    command
}

fn spawn(perigee: &Path, folder: &TempDir, database: Option<&str>) -> Result<(Child, String, Duration)> {
    let began = Instant::now();
    let log = std::fs::File::options().create(true).append(true).open(folder.path().join("log"))?;
    let mut command = settings(perigee, folder, database);
    command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(log);
    let mut child = command.spawn().with_context(|| format!("cannot start {}", perigee.display()))?;
    let out = child.stdout.take().context("the server has no output")?;
    for line in BufReader::new(out).lines() {
        if let Some(rest) = line?.trim().strip_prefix("listening on http://") {
            let address = rest.split(' ').next().unwrap_or_default().trim_end_matches('/').to_owned();
            return Ok((child, address, began.elapsed()));
        }
    }
    bail!("the server ended: {}", std::fs::read_to_string(folder.path().join("log"))?)
}
