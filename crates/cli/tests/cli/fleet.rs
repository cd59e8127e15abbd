//! A server with a key to it, as the commands that work through the API need them.

use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};

use crate::client::{send, token};
use crate::process::{Folder, Server, json as json_of, perigee};

/// A running server and its owner's key.
pub(crate) struct World {
    pub(crate) folder: Folder,
    pub(crate) server: Server,
    key: Value,
}

const OWNER: &str = "owner@localhost";

impl World {
    pub(crate) fn start() -> Self {
        let folder = Folder::new();
        let server = Server::start(&folder.data());
        let key = json_of(&folder.data(), &format!("key issue --email {OWNER}"))["apiKey"].clone();
        Self { folder, server, key }
    }

    /// A file beside the store.
    pub(crate) fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.data().with_file_name(name)
    }

    /// A command that knows the server and the key.
    pub(crate) fn command(&self, line: &str) -> Command {
        let mut command = perigee(&self.folder.data());
        command.args(line.split(' ')).env("PERIGEE_URL", &self.server.url).env("PERIGEE_USER_NAME", OWNER);
        command.env("PERIGEE_API_KEY", self.key.as_str().unwrap());
        command
    }

    /// The output of a command that ends with this status.
    #[track_caller]
    pub(crate) fn answer(&self, line: &str, code: i32) -> Value {
        let output = self.command(line).arg("--json").output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{line}: {said}");
        serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{line}: {error} {said}"))
    }

    /// Calls the API and checks the status.
    #[track_caller]
    pub(crate) fn call(&self, line: &str, body: Option<&Value>, status: u16) -> Value {
        let bearer = token(&self.server.url, OWNER, &self.key);
        send(&self.server.url, line, Some(&bearer), body).expect(status)
    }

    pub(crate) fn device(&self, identifier: &str) {
        self.call("POST /api/devices", Some(&json!({"name": identifier, "identifier": identifier})), 201);
    }

    /// How many locations a device has.
    pub(crate) fn count(&self, device: &str) -> usize {
        let answer = self.call(&format!("GET /api/devices/{device}/locations"), None, 200);
        answer["locations"].as_array().unwrap().len()
    }
}

/// Writes a text to a file and returns its name.
pub(crate) fn written(path: &Path, text: &str) -> String {
    std::fs::write(path, text).unwrap();
    path.display().to_string()
}
