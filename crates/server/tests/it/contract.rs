//! What clients rely on: the operations, the error codes, and an example of everything that goes in and out. The
//! whole document is kept in `docs/openapi.json`.

use std::fmt::Write as _;

use serde_json::Value;

use crate::support::{Engine, TestApp};

/// An operation of the document: method, path and what is said of it.
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
    // Generators for Go make a function `NewThing` for each schema `Thing`.
    let clashes: Vec<_> = schemas
        .keys()
        .filter(|name| name.strip_prefix("New").is_some_and(|thing| schemas.contains_key(thing)))
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
