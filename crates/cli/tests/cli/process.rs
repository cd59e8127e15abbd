//! The binary as a process: commands that end, and a server that runs until it is stopped or dropped.

use std::io::{BufRead, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};

use serde_json::Value;
use tempfile::TempDir;

/// The binary, without the settings of whoever runs the tests and with limits that tests do not meet.
pub(crate) fn perigee(data: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_perigee"));
    let settings = std::env::vars_os().map(|(name, _)| name);
    for name in settings.filter(|name| name.to_string_lossy().starts_with("PERIGEE_")) {
        command.env_remove(name);
    }
    command.env("PERIGEE_STORE__DATA", data).env("PERIGEE_LIMITS__REQUESTS_PER_SECOND", "100000");
    command.env("PERIGEE_LIMITS__BURST", "100000").stdin(Stdio::null());
    command
}

/// Runs a command line, split at blanks.
pub(crate) fn run(data: &Path, line: &str) -> Output {
    perigee(data).args(line.split(' ')).output().unwrap()
}

/// Runs a command that succeeds, and returns its JSON.
#[track_caller]
pub(crate) fn json(data: &Path, line: &str) -> Value {
    let output = run(data, &format!("{line} --json"));
    assert!(output.status.success(), "{line}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Runs a command that fails, and returns its single line of output.
#[track_caller]
pub(crate) fn refusal(data: &Path, line: &str) -> String {
    failure(&run(data, line), 1)
}

/// The one line of a command that failed.
#[track_caller]
pub(crate) fn failure(output: &Output, code: i32) -> String {
    let text = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(code), "{text}");
    assert!(output.stdout.is_empty(), "{}", String::from_utf8_lossy(&output.stdout));
    assert_eq!(text.lines().filter(|line| line.starts_with("perigee: ")).count(), 1, "{text}");
    text
}

pub(crate) struct Server {
    pub(crate) url: String,
    /// The output of the server before it listened.
    pub(crate) said: Vec<String>,
    child: Child,
    out: Lines<BufReader<ChildStdout>>,
}

impl Server {
    /// Starts one on a free port and waits until it listens.
    pub(crate) fn start(data: &Path) -> Self {
        Self::spawn(perigee(data).args(["serve", "--listen", "127.0.0.1:0"]), data)
    }

    /// Starts this command and waits until it listens.
    pub(crate) fn spawn(command: &mut Command, data: &Path) -> Self {
        let log = std::fs::File::options().create(true).append(true).open(log_of(data)).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(log).spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        let mut said = Vec::new();
        let url = loop {
            let line = out.next().unwrap_or_else(|| panic!("it ended: {}", log_text(data))).unwrap();
            match line.trim_end().strip_prefix("listening on ") {
                Some(rest) => break rest.split(' ').next().unwrap().to_owned(),
                None => said.push(line),
            }
        };
        Self { url, said, child, out }
    }

    /// Asks the process to stop.
    pub(crate) fn terminate(&self) {
        self.signal("TERM");
    }

    /// Sends it a signal.
    pub(crate) fn signal(&self, name: &str) {
        let kill = format!("kill -{name} {}", self.child.id());
        assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    }

    /// Waits for its end, and returns the rest of its output.
    pub(crate) fn wait(mut self) -> (ExitStatus, Vec<String>) {
        let rest = self.out.by_ref().map(Result::unwrap).collect();
        (self.child.wait().unwrap(), rest)
    }

    /// Stops it and asserts that it ended well.
    pub(crate) fn stop(self) {
        self.terminate();
        let (status, rest) = self.wait();
        assert!(status.success() && rest.is_empty(), "{status} {rest:?}");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _already_ended = self.child.kill();
        let _already_waited_for = self.child.wait();
    }
}

/// A folder for a store, and beside it the log of its server.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// The data folder, which does not exist yet.
    pub(crate) fn data(&self) -> std::path::PathBuf {
        self.0.path().join("data")
    }
}

fn log_of(data: &Path) -> std::path::PathBuf {
    data.with_extension("log")
}

/// The log of the server.
pub(crate) fn log_text(data: &Path) -> String {
    std::fs::read_to_string(log_of(data)).unwrap()
}
