//! Checks that hold for every operation of the document: the form of its answers and errors, unknown parameters and
//! members, `If-Match`, `Idempotency-Key` and `Location`. Each test walks all operations, so that a new one cannot differ.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::prepared::Prepared;
use super::{app, document};
use crate::support::{Answer, Call, Engine, TestApp, on_both_engines};

on_both_engines!(
    errors_have_one_form,
    unknown_members_are_refused,
    a_wrong_entity_tag_is_refused,
    created_resources_have_an_address_and_are_created_once,
    answers_have_the_envelope,
    unknown_paths_and_methods_are_counted_too,
);

/// Creating operations without an idempotency key, and why.
const WITHOUT_KEY: [(&str, &str); 7] = [
    ("submit_locations", "recognized by their content"),
    ("submit_alerts", "recognized by their content"),
    ("create_push_subscription", "recognized by its endpoint"),
    ("create_api_key", "the secret is shown once"),
    ("create_password_link", "the secret is shown once"),
    ("create_operator_account", "the owner's address is unique"),
    ("create_operator_map", "the name is unique"),
];
/// Creating operations whose answer has no address of its own, and why.
const WITHOUT_ADDRESS: [(&str, &str); 4] = [
    ("create_devices", "there may be many"),
    ("submit_locations", "there may be many"),
    ("submit_alerts", "there may be many"),
    ("create_password_link", "the link is in the body, and nobody else may read it"),
];

/// An operation of the document.
struct Operation<'d> {
    method: String,
    path: &'d str,
    said: &'d Value,
}

impl<'d> Operation<'d> {
    fn all(document: &'d Value) -> Vec<Self> {
        let mut all = Vec::new();
        for (path, item) in document["paths"].as_object().unwrap() {
            for (method, said) in item.as_object().unwrap() {
                all.push(Self { method: method.to_uppercase(), path, said });
            }
        }
        assert!(all.len() > 100, "only {} operations were found", all.len());
        all
    }

    fn id(&self) -> &'d str {
        self.said["operationId"].as_str().unwrap()
    }

    fn is_open(&self) -> bool {
        self.said["security"].as_array().unwrap().iter().all(|way| way == &json!({}))
    }

    fn needs_session(&self) -> bool {
        self.said["security"] == json!([{ "session": [] }])
    }

    /// Whether it ends the session, the password or the key that other requests of the test need.
    fn ends_access(&self) -> bool {
        ["delete_session", "replace_password", "create_api_key", "delete_api_key"].contains(&self.id())
    }

    fn parameters(&self, source: &str) -> impl Iterator<Item = &'d Value> {
        self.said["parameters"].as_array().into_iter().flatten().filter(move |one| one["in"] == source)
    }

    fn takes_header(&self, name: &str) -> bool {
        self.parameters("header").any(|header| header["name"] == name)
    }

    /// Path and query with examples, each id of which `fill` replaces.
    fn address(&self, fill: impl Fn(&str) -> String) -> String {
        let mut path = self.path.to_owned();
        for parameter in self.parameters("path") {
            let name = format!("{{{}}}", parameter["name"].as_str().unwrap());
            path = path.replace(&name, &fill(parameter["example"].as_str().unwrap()));
        }
        let required: Vec<String> = self
            .parameters("query")
            .filter(|parameter| parameter["required"] == true)
            .map(|one| format!("{}={}", one["name"].as_str().unwrap(), one["example"].as_str().unwrap()))
            .collect();
        if required.is_empty() { path } else { format!("{path}?{}", required.join("&")) }
    }

    /// The media type and the first example of its body.
    fn body(&self) -> Option<(&'d str, &'d Value)> {
        let content = self.said["requestBody"]["content"].as_object()?;
        let (media_type, said) =
            content.get_key_value("application/json").or_else(|| content.iter().next())?;
        let named = || said["examples"].as_object()?.values().next().map(|example| &example["value"]);
        Some((media_type, said.get("example").or_else(named).unwrap()))
    }
}

/// An account with one of everything, and who asks.
struct Walk {
    app: TestApp,
    prepared: Prepared,
}

impl Walk {
    async fn new(engine: Engine) -> Self {
        let app = app(engine).await;
        // Streams end at once, so that they are answers like others.
        app.app.tasks.stopping.cancel();
        let prepared = Prepared::new(&app, 1).await;
        Self { app, prepared }
    }

    /// A request by somebody who may do everything.
    fn call(&self, operation: &Operation<'_>, address: &str) -> Call {
        let call = self.app.call(&format!("{} {address}", operation.method));
        if operation.needs_session() {
            call.cookie(self.prepared.cookie())
        } else {
            call.by(self.prepared.owner())
        }
    }

    /// The address of resources that exist.
    fn own(&self, operation: &Operation<'_>) -> String {
        operation.address(|example| self.prepared.id_for(example))
    }

    /// The example of the body, with ids of this account.
    fn example<'d>(&self, operation: &Operation<'d>) -> Option<(&'d str, Value)> {
        let (media_type, example) = operation.body()?;
        let media_type = if media_type == "application/json" { media_type } else { "image/png" };
        Some((media_type, self.prepared.fill(example, None)))
    }

    fn with_example(&self, call: Call, operation: &Operation<'_>) -> Call {
        match self.example(operation) {
            Some(("application/json", example)) => call.json(&example),
            Some((media_type, _)) => call.body(media_type, super::prepared::PNG),
            None => call,
        }
    }
}

/// The problems in the form of an error of this status.
fn malformed(answer: &Answer, status: u16, code: &str, is_open: bool) -> Option<String> {
    let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
    let has_usage = body["apiUsage"].is_u64() && body["apiDailyUsage"].is_u64();
    let is_right = answer.status.as_u16() == status
        && body["code"] == code
        && body["success"] == false
        && body["error"] == body["detail"]
        && body["instance"] == answer.header("x-request-id")
        && answer.header("content-type") == "application/problem+json"
        && answer.header("api-version") == "1"
        && has_usage != is_open;
    (!is_right).then(|| {
        format!("expected {status} {code}, got {}: {}", answer.status, String::from_utf8_lossy(&answer.body))
    })
}

#[track_caller]
fn assert_none(wrong: &[String], checked: usize, least: usize) {
    assert!(wrong.is_empty(), "{} of {checked} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked >= least, "only {checked} operations were checked");
}

async fn errors_have_one_form(engine: Engine) {
    let (walk, document) = (Walk::new(engine).await, document());
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for operation in &Operation::all(&document) {
        if !operation.path.starts_with("/api/") || operation.id() == "create_token" {
            continue;
        }
        let is_open = operation.is_open();
        let mut check = |what: &str, found: Option<String>| {
            wrong.extend(found.map(|found| format!("{} {what}: {found}", operation.id())));
            checked += 1;
        };
        let own = walk.own(operation);
        let joint = if own.contains('?') { '&' } else { '?' };
        let call = walk.with_example(walk.call(operation, &format!("{own}{joint}dryRun=1")), operation);
        check("unknown parameter", malformed(&call.send().await, 400, "invalid-parameter", is_open));
        // These have other formats than JSON.
        if !["list_locations", "stream_events", "get_device_file"].contains(&operation.id()) {
            let call = walk.with_example(walk.call(operation, &own), operation);
            let answer = call.header("accept", "image/avif").send().await;
            check("unacceptable", malformed(&answer, 406, "not-acceptable", is_open));
        }
        // Templates are there for every kind, and an unknown kind is not an id.
        if operation.path.contains('{') && !operation.path.contains("{kind}") {
            let missing = operation.address(|example| match example.split_once('_') {
                Some((prefix, _)) => format!("{prefix}_01jc2m8k4n5zz"),
                None => "0".repeat(32),
            });
            let answer = walk.with_example(walk.call(operation, &missing), operation).send().await;
            check("missing", malformed(&answer, 404, "not-found", is_open));
        }
    }
    assert_none(&wrong, checked, 300);
}

async fn unknown_members_are_refused(engine: Engine) {
    let (walk, document) = (Walk::new(engine).await, document());
    let (mut wrong, mut checked) = (Vec::new(), 0);
    for operation in Operation::all(&document) {
        // Locations and alerts keep what they do not know; the other two answer every refusal alike.
        if ["submit_locations", "submit_alerts", "create_token"].contains(&operation.id()) {
            continue;
        }
        let Some(("application/json", mut example)) = walk.example(&operation) else { continue };
        let Some(members) = example.as_object_mut() else { continue };
        members.insert("dryRun".to_owned(), json!(true));
        let answer = walk.call(&operation, &walk.own(&operation)).json(&example).send().await;
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let named = body["errors"].as_array().into_iter().flatten().any(|one| one["pointer"] == "/dryRun");
        if !named || malformed(&answer, 400, "invalid-body", operation.is_open()).is_some() {
            wrong.push(format!("{}: {} {body}", operation.id(), answer.status));
        }
        checked += 1;
    }
    assert_none(&wrong, checked, 40);
}

async fn a_wrong_entity_tag_is_refused(engine: Engine) {
    let (walk, document) = (Walk::new(engine).await, document());
    let (mut wrong, mut checked) = (Vec::new(), 0);
    let mut tagged = BTreeSet::new();
    for operation in Operation::all(&document) {
        // There is no notice to dismiss here.
        let is_notice = operation.id() == "dismiss_operator_notice";
        if is_notice || !matches!(operation.method.as_str(), "PUT" | "PATCH" | "DELETE") {
            continue;
        }
        let own = walk.own(&operation);
        let call = walk.with_example(walk.call(&operation, &own), &operation);
        let answer = call.header("if-match", "\"r999999\"").send().await;
        let found = malformed(&answer, 412, "precondition-failed", false);
        wrong.extend(found.map(|found| format!("{}: {found}", operation.id())));
        if operation.takes_header("If-Match") {
            tagged.insert((operation.path, own, operation.needs_session()));
        }
        checked += 1;
    }
    for (path, own, needs_session) in tagged {
        if document["paths"][path].get("get").is_none() {
            continue;
        }
        let call = walk.app.call(&format!("GET {own}"));
        let call =
            if needs_session { call.cookie(walk.prepared.cookie()) } else { call.by(walk.prepared.owner()) };
        let answer = call.send().await;
        if answer.header("etag").is_empty() {
            wrong.push(format!(
                "GET {path} has no ETag: {} {}",
                answer.status,
                String::from_utf8_lossy(&answer.body)
            ));
        }
    }
    assert_none(&wrong, checked, 45);
}

async fn created_resources_have_an_address_and_are_created_once(engine: Engine) {
    let (walk, document) = (Walk::new(engine).await, document());
    let (mut wrong, mut checked) = (Vec::new(), 0);
    let mut operations = Operation::all(&document);
    operations.sort_by_key(Operation::ends_access);
    for operation in operations {
        let id = operation.id();
        if operation.method != "POST" || operation.said["responses"].get("201").is_none() {
            continue;
        }
        let is_excused = |list: &[(&str, &str)]| list.iter().any(|(excused, _)| *excused == id);
        let has_key = operation.takes_header("Idempotency-Key");
        if has_key == is_excused(&WITHOUT_KEY) {
            wrong.push(format!("{id}: Idempotency-Key is {has_key} in the document"));
        }
        let own = walk.own(&operation);
        let body = walk.example(&operation).map(|(_, body)| body.to_string()).unwrap_or_default();
        let send = async |body: String| {
            let call = walk.call(&operation, &own).header("idempotency-key", id);
            let call = if body.is_empty() { call } else { call.body("application/json", body) };
            call.send().await
        };
        let first = send(body.clone()).await;
        // Locations and alerts may be there already.
        if is_excused(&WITHOUT_ADDRESS) && first.status.is_success() {
            continue;
        }
        let address = first.header("location").to_owned();
        let Some(path) = address.strip_prefix("http://perigee.test").filter(|_| first.status.as_u16() == 201)
        else {
            wrong.push(format!("{id}: {} at {address:?}: {:?}", first.status, first.json()));
            continue;
        };
        let read = walk.app.call(&format!("GET {path}"));
        let read = if operation.needs_session() {
            read.cookie(walk.prepared.cookie())
        } else {
            read.by(walk.prepared.owner())
        };
        let read = read.send().await;
        if read.status.as_u16() != 200 {
            wrong.push(format!("{id}: GET {path} is {}", read.status));
        }
        if has_key {
            let again = send(body.clone()).await;
            if again.status.as_u16() != 201 || again.header("location") != address {
                wrong.push(format!("{id}: sent again is {} {}", again.status, again.json()));
            }
            let other = send(format!("{body} ")).await;
            let found = malformed(&other, 422, "idempotency-mismatch", false);
            wrong.extend(found.map(|found| format!("{id} with another body: {found}")));
        }
        checked += 1;
    }
    assert_none(&wrong, checked, 13);
}

async fn answers_have_the_envelope(engine: Engine) {
    let (walk, document) = (Walk::new(engine).await, document());
    let (mut wrong, mut checked) = (Vec::new(), 0);
    // Operations that delete are last.
    let mut operations = Operation::all(&document);
    operations.sort_by_key(|operation| (operation.ends_access(), operation.method == "DELETE"));
    for operation in operations {
        if !operation.path.starts_with("/api/") || operation.id() == "create_token" {
            continue;
        }
        let call = walk.with_example(walk.call(&operation, &walk.own(&operation)), &operation);
        let answer = call.send().await;
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        if !answer.status.is_success() || answer.header("content-type") != "application/json" {
            continue;
        }
        let has_usage = body["apiUsage"].is_u64() && body["apiDailyUsage"].is_u64();
        if body["success"] != true || has_usage == operation.is_open() {
            wrong.push(format!("{}: {body}", operation.id()));
        }
        checked += 1;
    }
    assert_none(&wrong, checked, 90);
}

async fn unknown_paths_and_methods_are_counted_too(engine: Engine) {
    let (walk, document) = (Walk::new(engine).await, document());
    let owner = walk.prepared.owner();
    let missing = |line: &str| walk.app.call(line);
    for line in ["GET /api/nothing", "POST /api/devices/x/nothing", "DELETE /api/nothing/at/all"] {
        assert_eq!(malformed(&missing(line).by(owner).send().await, 404, "not-found", false), None, "{line}");
        assert_eq!(malformed(&missing(line).send().await, 404, "not-found", true), None, "{line}");
        let refused = missing(line).header("authorization", "Bearer x").send().await;
        assert_eq!(malformed(&refused, 401, "invalid-token", true), None, "{line}");
    }
    let before = walk.app.get(owner, "/api/account").await["apiUsage"].as_u64().unwrap();
    let counted =
        missing("GET /api/nothing").by(owner).send().await.expect(404)["apiUsage"].as_u64().unwrap();
    assert_eq!(counted, before + 1);
    let mut wrong = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let Some(method) =
            ["PUT", "DELETE", "POST"].iter().find(|one| item.get(one.to_lowercase()).is_none())
        else {
            continue;
        };
        if path == "/api/Auth/Token" || !path.starts_with("/api/") {
            continue;
        }
        let is_open = Operation::all(&document).iter().filter(|one| one.path == path).all(Operation::is_open);
        let answer = walk.app.call(&format!("{method} {path}")).by(owner).send().await;
        let found = malformed(&answer, 405, "method-not-allowed", is_open);
        wrong.extend(found.map(|found| format!("{method} {path}: {found}")));
        if answer.header("allow").is_empty() {
            wrong.push(format!("{method} {path} has no Allow"));
        }
    }
    assert_none(&wrong, document["paths"].as_object().unwrap().len(), 60);
}
