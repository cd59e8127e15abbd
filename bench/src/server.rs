//! A built server as a process: its store, its account, its devices.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::task::JoinSet;

use crate::http::Connection;
use crate::machine::{self, Usage};

const OWNER: &str = "owner@localhost";
/// Connections that create devices at the same time.
const MAKERS: usize = 32;

/// How a server is started.
#[derive(Clone, Debug)]
pub struct Setup {
    /// Path of the `perigee` binary.
    pub perigee: PathBuf,
    /// The folder in which the server's folder is created.
    pub scratch: PathBuf,
    /// The URL of its PostgreSQL database; `None` for a SQLite database of its own.
    pub database: Option<String>,
    /// Set in addition to those of this process.
    pub environment: Vec<(String, String)>,
    /// Which limits apply to its users.
    pub limits: Limits,
}

/// Which limits apply to the users of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limits {
    /// Limits so high that no benchmark reaches them.
    Lifted,
    /// The limits of a new installation.
    Default,
}

/// A server process, stopped when this is dropped.
#[derive(Debug)]
pub struct Server {
    setup: Setup,
    folder: TempDir,
    child: Child,
    /// `host:port` at which it listens.
    pub address: String,
    /// A token of the owner.
    pub token: String,
    /// The owner's API key.
    pub api_key: String,
    /// The ids of the devices.
    pub devices: Vec<String>,
    /// Their identifiers, in the same order.
    pub identifiers: Vec<String>,
    /// Time from the start of the process until it listened.
    pub ready_after: Duration,
}

impl Server {
    /// Starts a server on a store of its own.
    pub async fn start(setup: Setup) -> Result<Self> {
        let folder = TempDir::new_in(&setup.scratch)?;
        let (child, address, ready_after) = spawn(&setup, folder.path())?;
        let mut server = Self {
            setup,
            folder,
            child,
            address,
            token: String::new(),
            api_key: String::new(),
            devices: Vec::new(),
            identifiers: Vec::new(),
            ready_after,
        };
        let key = server.run_json(&["key", "issue", "--email", OWNER])?;
        server.api_key = key["apiKey"].as_str().context("no API key was given")?.to_owned();
        let body = json!({"userName": OWNER, "apiKey": server.api_key}).to_string();
        let mut connection = Connection::open(&server.address).await?;
        let answer = connection.call("POST /api/Auth/Token", "", body.as_bytes()).await?.json()?;
        answer["token"].as_str().context("no token was given")?.clone_into(&mut server.token);
        Ok(server)
    }

    /// Starts another server on the same database.
    pub fn start_beside(&self) -> Result<Self> {
        let folder = TempDir::new_in(&self.setup.scratch)?;
        let (child, address, ready_after) = spawn(&self.setup, folder.path())?;
        Ok(Self {
            setup: self.setup.clone(),
            folder,
            child,
            address,
            token: self.token.clone(),
            api_key: self.api_key.clone(),
            devices: self.devices.clone(),
            identifiers: self.identifiers.clone(),
            ready_after,
        })
    }

    /// Creates further devices, whose identifiers begin with `prefix`.
    pub async fn make_devices(&mut self, prefix: &str, count: usize) -> Result<()> {
        self.make_named_devices((0..count).map(|index| format!("{prefix}-{index:05}")).collect()).await
    }

    /// Creates further devices with these identifiers.
    pub async fn make_named_devices(&mut self, made: Vec<String>) -> Result<()> {
        let mut makers = JoinSet::new();
        for part in made.chunks(made.len().div_ceil(MAKERS).max(1)) {
            let (part, address, token) = (part.to_vec(), self.address.clone(), self.token.clone());
            makers.spawn(async move {
                let mut connection = Connection::open(&address).await?;
                let mut named = Vec::with_capacity(part.len());
                for identifier in part {
                    let body = json!({"name": identifier, "identifier": identifier}).to_string();
                    let answer = connection.call("POST /api/devices", &token, body.as_bytes()).await?;
                    if answer.status != 201 {
                        bail!("cannot make a device: {}", answer.text());
                    }
                    let id =
                        answer.json()?["device"]["id"].as_str().context("a device without an id")?.to_owned();
                    named.push((id, identifier));
                }
                anyhow::Ok(named)
            });
        }
        while let Some(done) = makers.join_next().await {
            let (ids, identifiers): (Vec<_>, Vec<_>) = done??.into_iter().unzip();
            self.devices.extend(ids);
            self.identifiers.extend(identifiers);
        }
        Ok(())
    }

    /// A command of the same binary with the settings of this server.
    pub fn command(&self) -> Command {
        let mut command = command(&self.setup, self.folder.path());
        command
            .env("PERIGEE_URL", format!("http://{}", self.address))
            .env("PERIGEE_USER_NAME", OWNER)
            .env("PERIGEE_API_KEY", &self.api_key);
        command
    }

    /// Runs a command of the same binary with the settings of this server, and returns its output.
    pub fn run_json(&self, line: &[&str]) -> Result<Value> {
        let output = command(&self.setup, self.folder.path()).args(line).arg("--json").output()?;
        serde_json::from_slice(&output.stdout)
            .with_context(|| format!("{line:?}: {}", String::from_utf8_lossy(&output.stderr)))
    }

    /// CPU time and memory that the process has used so far.
    pub fn usage(&self) -> Result<Usage> {
        machine::usage(self.child.id())
    }

    /// The value of a metric of the server; zero if there is none of that name.
    pub async fn figure(&self, name: &str) -> Result<f64> {
        let mut connection = Connection::open(&self.address).await?;
        let answer = connection.call("GET /metrics", "", b"").await?;
        let text = String::from_utf8_lossy(&answer.content()).into_owned();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        Ok(line.and_then(|value| value.trim().parse().ok()).unwrap_or(0.0))
    }

    /// The folder of the process, with its log and its data.
    pub fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Sets the environment variables of the process from its next start on.
    pub fn set_environment(&mut self, environment: Vec<(String, String)>) {
        self.setup.environment = environment;
    }

    /// The id of its process.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Kills it with SIGKILL.
    pub fn kill(&mut self) -> Result<()> {
        self.child.kill()?;
        self.child.wait()?;
        Ok(())
    }

    /// Ends it with SIGTERM.
    pub fn end(&mut self) -> Result<()> {
        Command::new("kill").args(["-TERM", &self.child.id().to_string()]).status()?;
        self.child.wait()?;
        Ok(())
    }

    /// Starts it again on the same store after it has ended.
    pub fn start_again(&mut self) -> Result<()> {
        let (child, address, ready_after) = spawn(&self.setup, self.folder.path())?;
        (self.child, self.address, self.ready_after) = (child, address, ready_after);
        Ok(())
    }

    /// The end of its log, for a message.
    pub fn log_end(&self) -> String {
        let log = std::fs::read(self.folder.path().join("log")).unwrap_or_default();
        String::from_utf8_lossy(&log[log.len().saturating_sub(2000)..]).into_owned()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _already_ended = self.child.kill();
        let _already_waited_for = self.child.wait();
    }
}

fn command(setup: &Setup, folder: &Path) -> Command {
    let mut command = Command::new(&setup.perigee);
    command
        .env("PERIGEE_STORE__DATA", folder.join("data"))
        .env("PERIGEE_STORE__DATABASE", setup.database.as_deref().unwrap_or_default())
        // Receivers are on this machine.
        .env("PERIGEE_WEBHOOKS__ALLOW_HTTP", "true")
        .env("PERIGEE_WEBHOOKS__ALLOW_PRIVATE", "true")
        .env("PERIGEE_AUTH__TOKEN_SECONDS", "86400")
        .env("PERIGEE_FIRST_START__LICENSES", "1000000")
        .stdin(Stdio::null());
    if setup.limits == Limits::Lifted {
        command
            .env("PERIGEE_LIMITS__REQUESTS_PER_SECOND", "10000000")
            .env("PERIGEE_LIMITS__BURST", "10000000")
            .env("PERIGEE_SERVER__MAX_CONNECTIONS_PER_ADDRESS", "5000")
            .env("PERIGEE_EVENTS__STREAMS_PER_USER", "5000")
            .env("PERIGEE_EVENTS__STREAMS_PER_ACCOUNT", "5000");
    }
    command
}

fn spawn(setup: &Setup, folder: &Path) -> Result<(Child, String, Duration)> {
    let began = Instant::now();
    let log = std::fs::File::options().create(true).append(true).open(folder.join("log"))?;
    let mut command = command(setup, folder);
    command.envs(setup.environment.iter().map(|(name, value)| (name, value)));
    command.args(["serve", "--listen", "127.0.0.1:0"]).stdout(Stdio::piped()).stderr(log);
    let mut child = command.spawn().with_context(|| format!("cannot start {}", setup.perigee.display()))?;
    let out = child.stdout.take().context("the server has no output")?;
    for line in BufReader::new(out).lines() {
        if let Some(rest) = line?.trim().strip_prefix("listening on http://") {
            let address = rest.split(' ').next().unwrap_or_default().trim_end_matches('/').to_owned();
            return Ok((child, address, began.elapsed()));
        }
    }
    bail!("the server ended: {}", std::fs::read_to_string(folder.join("log"))?)
}
