//! The authorization matrix: every operation of the document x every identity x every kind of object.
//!
//! An operation without a row fails the test, so nothing is added without deciding who may use it.

mod bodies;
mod identity;
mod made;
mod object;
mod paths;
mod rows;
mod world;

use perigee_server::http::router::api_document;
use serde_json::Value;

use self::identity::Identity;
use self::object::Object;
use self::rows::{Access, ROWS, Row};
use self::world::World;
use crate::support::{Answer, Engine, on_both_engines};

on_both_engines!(everybody_gets_what_they_may);

#[test]
fn every_operation_has_a_row() {
    let document = api_document("http://perigee.test");
    let mut documented: Vec<String> = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        let methods = item.as_object().unwrap().keys();
        documented.extend(methods.map(|method| format!("{} {path}", method.to_uppercase())));
    }
    documented.sort();
    let mut rows: Vec<String> = ROWS.iter().map(|row| row.operation.to_owned()).collect();
    rows.sort();
    assert_eq!(documented, rows, "every operation needs a row in the matrix, and every row an operation");
}

async fn everybody_gets_what_they_may(engine: Engine) {
    let world = World::new(engine).await;
    let mut wrong = Vec::new();
    let mut checked = 0;
    for row in ROWS {
        for identity in Identity::ALL {
            for object in Object::of(row.kind) {
                let answer = world.send(row, *identity, *object).await;
                let expected = expect(row, *identity, *object);
                let got = verdict(&answer);
                if !fulfils(row, got, expected) {
                    let body = String::from_utf8_lossy(&answer.body).into_owned();
                    wrong.push(format!(
                        "{} by {identity:?} on {object:?}: expected {expected:?}, got {got:?}: {body}",
                        row.operation
                    ));
                }
                checked += 1;
            }
        }
    }
    assert!(wrong.is_empty(), "{} of {checked} are wrong:\n{}", wrong.len(), wrong.join("\n"));
    assert!(checked > 1_000, "the matrix has only {checked} cells");
}

/// The outcome of a request as far as authorization decides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// 401 with this code.
    Unknown(&'static str),
    /// 403 with this code.
    Forbidden(&'static str),
    /// 404: not visible.
    NotVisible,
    /// 2xx: it was done.
    LetThrough,
    /// Refused for another reason, by this code.
    Refused(&'static str),
}

/// Whether that is the expected outcome. An admitted request succeeds, or ends in a refusal that its row lists.
fn fulfils(row: &Row, got: Verdict, expected: Verdict) -> bool {
    let ends_well = matches!(got, Verdict::Refused(code) if row.may_end_in().contains(&code));
    got == expected || (expected == Verdict::LetThrough && ends_well)
}

fn verdict(answer: &Answer) -> Verdict {
    let code = || -> &'static str {
        let body: Value = serde_json::from_slice(&answer.body).unwrap_or_default();
        let code = body["code"].as_str().unwrap_or("(none)").to_owned();
        Box::leak(code.into_boxed_str())
    };
    match answer.status.as_u16() {
        401 => Verdict::Unknown(code()),
        403 => Verdict::Forbidden(code()),
        404 if code() != "no-location" => Verdict::NotVisible,
        200..=299 => Verdict::LetThrough,
        _ => Verdict::Refused(code()),
    }
}

/// The expected outcome by access, identity and object.
fn expect(row: &Row, identity: Identity, object: Object) -> Verdict {
    if row.access == Access::Open {
        return if row.kind.is_reached_by_secret() && object != Object::Own {
            Verdict::NotVisible
        } else {
            Verdict::LetThrough
        };
    }
    if let Some(refused) = identity.refusal() {
        return refused;
    }
    let needs_session = matches!(row.access, Access::Session | Access::Operator);
    if needs_session && identity != Identity::SignedIn {
        return Verdict::Forbidden("session-required");
    }
    // A caller who is not an operator gets the same answer for every account.
    if row.access != Access::Operator && !identity.sees(row.kind, object) {
        return Verdict::NotVisible;
    }
    if identity.may(row.access) { Verdict::LetThrough } else { Verdict::Forbidden("forbidden") }
}
