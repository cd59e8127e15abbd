//! Every request example of the document, sent unchanged to an account that has the resources of the example.
//!
//! Only unpredictable values are replaced: IDs, by their prefix, API keys, one-time codes and link tokens.

mod prepared;
mod request;
mod uniform;

use perigee_server::http::router::api_document;
use serde_json::{Value, json};

use self::prepared::Prepared;
use self::request::{Request, requests};
use crate::support::{Engine, TestApp, on_both_engines};

on_both_engines!(every_request_example_succeeds, a_broken_example_is_found);

fn document() -> Value {
    api_document("http://perigee.test")
}

async fn app(engine: Engine) -> TestApp {
    let app = TestApp::with(engine, |config| {
        config.limits.burst = 1_000_000;
        config.limits.requests_per_second = 1_000_000;
    })
    .await;
    // The examples are about the first days of May.
    let start = "2026-05-01T12:00:30Z".parse::<perigee_core::time::Timestamp>().unwrap();
    app.clock().advance_seconds(start.as_seconds() - app.app.clock.now().as_seconds());
    app
}

/// Sends each request to an account of its own and gives what did not succeed as the document promises.
async fn failures(app: &TestApp, requests: &[Request<'_>]) -> Vec<String> {
    let mut failures = Vec::new();
    for (number, request) in requests.iter().enumerate() {
        let prepared = Prepared::new(app, number).await;
        let answer = prepared.send(app, request).await;
        if !request.promised.contains(&answer.status.as_u16()) {
            let body = String::from_utf8_lossy(&answer.body).into_owned();
            failures.push(format!("{request}: {} is none of {:?}: {body}", answer.status, request.promised));
        }
        prepared.clear(app).await;
    }
    failures
}

async fn every_request_example_succeeds(engine: Engine) {
    let document = document();
    let requests = requests(&document);
    let failures = failures(&app(engine).await, &requests).await;
    assert!(failures.is_empty(), "{} of {} fail:\n{}", failures.len(), requests.len(), failures.join("\n"));
    assert!(requests.len() >= 80, "only {} examples were found", requests.len());
}

/// The check itself must find an example that is refused.
async fn a_broken_example_is_found(engine: Engine) {
    let mut document = document();
    let broken = [
        ("/paths/~1api~1groups/post/requestBody/content/application~1json/example/name", json!(5)),
        (
            "/paths/~1api~1groups~1{groupId}/patch/requestBody/content/application~1json-patch+json/example/0/path",
            json!("/nothing"),
        ),
    ];
    for (pointer, value) in broken {
        *document.pointer_mut(pointer).unwrap() = value;
    }
    let requests = requests(&document);
    let groups: Vec<Request<'_>> =
        requests.into_iter().filter(|request| request.path.starts_with("/api/groups")).collect();
    let failures = failures(&app(engine).await, &groups).await;
    let [create, patch] = failures.as_slice() else { panic!("two examples are broken: {failures:#?}") };
    assert!(create.starts_with("POST /api/groups (application/json)") && create.contains("400"), "{create}");
    assert!(patch.starts_with("PATCH /api/groups/{groupId} (application/json-patch+json)"), "{patch}");
}
