//! The contract with clients: the operations, the error codes, and an example of everything that goes in and out. The
//! whole document is kept in `docs/openapi.json`.

use std::collections::BTreeSet;
use std::fmt::Write as _;

use perigee_core::events::event::EventKind;
use perigee_server::webhook::HEADERS;
use serde_json::{Value, json};

use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(events_have_the_members_that_webhooks_name);

/// An operation of the document: method, path and its object.
type Operation<'d> = (&'d str, &'d str, &'d Value);

async fn document() -> Value {
    let app = TestApp::new(Engine::Sqlite).await;
    app.call("GET /api/openapi.json").send().await.expect(200)
}

fn operations(document: &Value) -> Vec<Operation<'_>> {
    let paths = document["paths"].as_object().unwrap();
    let mut all = Vec::new();
    for (path, item) in paths {
        for (method, operation) in item.as_object().unwrap() {
            all.push((method.as_str(), path.as_str(), operation));
        }
    }
    all.sort_by_key(|(method, path, _)| (*path, *method));
    all
}

#[tokio::test]
async fn operations_stay() {
    let document = document().await;
    let mut list = String::new();
    for (method, path, operation) in operations(&document) {
        let id = operation["operationId"].as_str().unwrap();
        writeln!(list, "{:6} {path}  {id}", method.to_uppercase()).unwrap();
    }
    insta::assert_snapshot!(list);
}

/// Paths of the schemas in which a list is one of several choices.
fn lists_among_choices(schema: &Value, path: &str, found: &mut Vec<String>) {
    let is_list = |choice: &Value| {
        choice["type"] == "array"
            || choice["type"].as_array().is_some_and(|kinds| kinds.contains(&json!("array")))
    };
    match schema {
        Value::Object(members) => {
            let mut choices = ["anyOf", "oneOf"].iter().filter_map(|name| members.get(*name)?.as_array());
            if choices.any(|choices| choices.iter().any(is_list)) {
                found.push(path.to_owned());
            }
            for (name, member) in members {
                lists_among_choices(member, &format!("{path}/{name}"), found);
            }
        }
        Value::Array(items) => items.iter().for_each(|item| lists_among_choices(item, path, found)),
        _ => {}
    }
}

/// The generator of Java clients writes code that does not compile for such schemas, so that `scripts/clients` replaces
/// them by any object. A further one would break clients whose authors have done the same.
#[tokio::test]
async fn only_three_bodies_are_lists_or_something_else() {
    let mut found = Vec::new();
    lists_among_choices(&document().await["components"]["schemas"], "", &mut found);
    found.sort();
    assert_eq!(found, ["/AlertsBody", "/DevicesBody", "/LocationsBody"]);
}

#[tokio::test]
async fn error_codes_stay() {
    let document = document().await;
    let mut list = Vec::new();
    for (_, response) in document["components"]["responses"].as_object().unwrap() {
        let examples = &response["content"]["application/problem+json"]["examples"];
        for (code, example) in examples.as_object().unwrap() {
            let problem = &example["value"];
            list.push(format!("{} {code}: {}", problem["status"], problem["title"].as_str().unwrap()));
        }
    }
    list.sort();
    insta::assert_snapshot!(list.join("\n"));
}

#[tokio::test]
async fn everything_has_an_example() {
    let document = document().await;
    let mut without = Vec::new();
    for (method, path, operation) in operations(&document) {
        let answers = operation["responses"].as_object().unwrap().iter();
        let good = answers.filter(|(status, _)| status.starts_with('2')).map(|(_, answer)| answer);
        for body in operation.get("requestBody").into_iter().chain(good) {
            for (media_type, content) in body["content"].as_object().into_iter().flatten() {
                let shown = content.get("example").or_else(|| content.get("examples"));
                if shown.is_none_or(serde_json::Value::is_null) {
                    without.push(format!("{method} {path} {media_type}"));
                }
            }
        }
    }
    assert!(without.is_empty(), "no example: {without:#?}");
}

#[tokio::test]
async fn no_schema_is_named_like_a_constructor_of_another() {
    let document = document().await;
    let schemas = document["components"]["schemas"].as_object().unwrap();
    // Generators for Go make a function for each schema, with `New` before its name.
    let clashes: Vec<_> = schemas
        .keys()
        .filter(|name| name.strip_prefix("New").is_some_and(|resource| schemas.contains_key(resource)))
        .collect();
    assert!(clashes.is_empty(), "{clashes:?}");
}

#[tokio::test]
async fn operation_ids_are_unique() {
    let document = document().await;
    let mut ids: Vec<&str> = operations(&document)
        .iter()
        .map(|(_, _, operation)| operation["operationId"].as_str().unwrap())
        .collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count, "{ids:?}");
}

#[tokio::test]
async fn every_reference_leads_somewhere() {
    fn walk(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(members) => {
                found.extend(members.get("$ref").and_then(Value::as_str).map(str::to_owned));
                members.values().for_each(|member| walk(member, found));
            }
            Value::Array(items) => items.iter().for_each(|item| walk(item, found)),
            _ => {}
        }
    }
    let document = document().await;
    let mut references = Vec::new();
    walk(&document, &mut references);
    references.retain(|reference| document.pointer(reference.trim_start_matches('#')).is_none());
    assert!(references.is_empty(), "nothing is at {references:?}");
}

#[tokio::test]
async fn every_event_is_a_webhook_and_is_signed() {
    let document = document().await;
    let webhooks = document["webhooks"].as_object().unwrap();
    let described: BTreeSet<&str> = webhooks.keys().map(String::as_str).collect();
    let mut sent: BTreeSet<&str> = EventKind::ALL.iter().map(|kind| kind.name()).collect();
    sent.insert("webhook.test");
    assert_eq!(described, sent);
    for (name, webhook) in webhooks {
        let parameters = webhook["post"]["parameters"].as_array().unwrap();
        let headers: Vec<&str> = parameters.iter().map(|header| header["name"].as_str().unwrap()).collect();
        assert_eq!(headers, HEADERS.map(|header| header.name), "{name}");
        assert_eq!(webhook["post"]["requestBody"]["content"]["application/json"]["example"]["type"], **name);
    }
}

#[tokio::test]
async fn every_patch_takes_a_json_patch() {
    let document = document().await;
    let patches: Vec<Operation<'_>> =
        operations(&document).into_iter().filter(|(method, ..)| *method == "patch").collect();
    assert!(patches.len() >= 14, "only {} operations are PATCH", patches.len());
    for (_, path, operation) in patches {
        let content = operation["requestBody"]["content"].as_object().unwrap();
        let types: BTreeSet<&str> = content.keys().map(String::as_str).collect();
        let expect = ["application/json", "application/json-patch+json", "application/merge-patch+json"];
        assert_eq!(types, BTreeSet::from(expect), "{path}");
    }
}

/// The members that a schema names, in all its parts.
fn members(schema: &Value, document: &Value) -> BTreeSet<String> {
    let mut names: BTreeSet<String> =
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect();
    if let Some(reference) = schema["$ref"].as_str() {
        names.extend(members(document.pointer(reference.trim_start_matches('#')).unwrap(), document));
    }
    for parts in ["allOf", "anyOf"] {
        for part in schema[parts].as_array().into_iter().flatten() {
            names.extend(members(part, document));
        }
    }
    names
}

async fn events_have_the_members_that_webhooks_name(engine: Engine) {
    let app = TestApp::new(engine).await;
    let owner = &app.tenant("acme", 1).await.owner;
    let device = app
        .device(owner, &json!({"name": "Star", "limits": {"expires": true, "expirationDate": "2025-12-31"}}))
        .await;
    let send = async |line: &str, body: Value| app.send(owner, line, &body).await.json();
    send(&format!("PATCH /api/devices/{device}"), json!({"limits": {"expirationDate": "2026-12-31"}})).await;
    send("POST /api/devices", json!({"name": "no licence is left"})).await;
    let location = json!({"dateTime": "2026-01-01T00:00:00Z", "latitude": 1, "longitude": 2, "mileage": 3});
    send(&format!("POST /api/devices/{device}/locations"), location).await;
    let alert = json!({"dateTime": "2026-01-01T00:00:00Z", "alertName": "SOSButton"});
    let alert = send(&format!("POST /api/devices/{device}/alerts"), alert).await;
    let alert = alert["ids"][0].as_str().unwrap_or_else(|| panic!("no id in {alert}"));
    send(&format!("POST /api/alerts/{alert}/acknowledge"), Value::Null).await;
    send(&format!("POST /api/alerts/{alert}/end"), Value::Null).await;
    let group = app.group(owner, &json!({"name": "Boats", "devices": [device]})).await;
    let user = json!({"name": "Leo", "email": "leo@acme.test", "country": "ES", "timeZone": "UTC"});
    let user = send("POST /api/users", user).await;
    for path in [format!("groups/{group}"), format!("users/{}", user["id"].as_str().unwrap())] {
        app.call(&format!("DELETE /api/{path}")).by(owner).send().await.expect(200);
    }
    let document = document().await;
    let events = app.get(owner, "/api/events?cursor=start").await;
    let mut seen = BTreeSet::new();
    for event in events["events"].as_array().unwrap() {
        let kind = event["type"].as_str().unwrap();
        let schema =
            &document["webhooks"][kind]["post"]["requestBody"]["content"]["application/json"]["schema"];
        let present: BTreeSet<String> = event["data"].as_object().unwrap().keys().cloned().collect();
        let described = members(&schema["allOf"][1]["properties"]["data"], &document);
        let unknown: Vec<&String> = present.difference(&described).collect();
        assert!(unknown.is_empty(), "{kind} has {unknown:?}: {event}");
        seen.insert(kind.to_owned());
    }
    assert!(seen.len() >= 10, "only {seen:?} happened");
}
