//! Objects made through the API, as a test needs them before it begins.

use serde_json::{Value, json};

use super::{Answer, Person, TestApp};

/// An error body without what differs between two equal answers.
#[track_caller]
pub(crate) fn bare_error(answer: &Answer, status: u16, code: &str) -> Value {
    let mut body = answer.expect_error(status, code);
    for live in ["instance", "apiUsage", "apiDailyUsage"] {
        body[live] = json!(null);
    }
    body
}

/// The pointers of the problems an error lists.
pub(crate) fn pointers(body: &Value) -> Vec<&str> {
    let errors = body["errors"].as_array().map(Vec::as_slice).unwrap_or_default();
    errors.iter().filter_map(|error| error["pointer"].as_str()).collect()
}

impl TestApp {
    /// Creates a device and returns its ID.
    pub(crate) async fn device(&self, person: &Person, body: &Value) -> String {
        let made = self.call("POST /api/devices").by(person).json(body).send().await.expect(201);
        made["device"]["id"].as_str().expect("an id").to_owned()
    }

    /// Creates a group and returns its ID.
    pub(crate) async fn group(&self, person: &Person, body: &Value) -> String {
        let made = self.call("POST /api/groups").by(person).json(body).send().await.expect(201);
        made["id"].as_str().expect("an id").to_owned()
    }

    /// Reads something that must be there.
    pub(crate) async fn get(&self, person: &Person, path: &str) -> Value {
        self.call(&format!("GET {path}")).by(person).send().await.expect(200)
    }

    /// Sends a JSON body.
    pub(crate) async fn send(&self, person: &Person, line: &str, body: &Value) -> Answer {
        self.call(line).by(person).json(body).send().await
    }
}
