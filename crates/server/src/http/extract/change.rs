//! The body of PUT and PATCH: both result in a new state, PATCH from the current one.

use std::sync::Arc;

use axum::extract::{FromRequest, FromRequestParts, Request};
use http::Method;
use serde_json::Value;

use super::body::{
    BODY_MAX, BODY_VALUES_MAX, JsonBody, Refused, VALUE_BYTES, expect_media_type, expect_no_coding,
    media_type, payer,
};
use super::conditional::Preconditions;
use super::receive::read_body;
use crate::app::App;
use crate::budget::{Budget, Payer, Permit};
use crate::http::edit::ENVELOPE;
use crate::http::error::{ApiError, ApiResult, internal};
use crate::http::error_code::ErrorCode;
use crate::http::json::{Pointer, apply_patch, apply_patch_at_once};

const MERGE_PATCH: &str = "application/merge-patch+json";
/// The media type of a JSON Patch (RFC 6902).
pub const JSON_PATCH: &str = "application/json-patch+json";
const PATCH_TYPES: [&str; 3] = ["application/json", MERGE_PATCH, JSON_PATCH];

/// A patch of at most this many steps, a fraction of a millisecond, is applied on the connection's thread.
const INLINE_STEPS: u64 = 20_000;

/// Memory for applying a patch in bytes: the patch, the resource, and as much again for copies.
const PATCHED_BYTES: usize = 2 * BODY_VALUES_MAX * VALUE_BYTES;

/// A change of one resource.
#[derive(Debug)]
pub struct Change {
    body: Arc<Value>,
    is_patch: bool,
    work: Option<Work>,
    /// The pointer of the resource in the body.
    base: Pointer,
    /// `If-Match` and `If-None-Match` of the request.
    pub preconditions: Preconditions,
}

/// The parts that are needed to apply an expensive patch on a blocking thread.
#[derive(Debug)]
struct Work {
    budget: Budget,
    payer: Payer,
    /// Accounts for the memory of the body while the change exists.
    _permit: Permit,
}

impl FromRequest<App> for Change {
    type Rejection = ApiError;

    async fn from_request(request: Request, app: &App) -> ApiResult<Self> {
        let (mut parts, body) = request.into_parts();
        let preconditions = Preconditions::from_request_parts(&mut parts, app).await?;
        let is_patch = parts.method == Method::PATCH;
        expect_media_type(&parts.headers, if is_patch { &PATCH_TYPES } else { &PATCH_TYPES[..1] })?;
        expect_no_coding(&parts.headers)?;
        let payer = payer(&parts.extensions)?;
        let received = read_body(body, BODY_MAX, &app.budget.bodies, payer).await?;
        let JsonBody { value, permit, .. } =
            JsonBody::parse(app, received).await.map_err(|refused| match refused {
                Refused::TooLarge(error) if is_patch => ApiError { code: ErrorCode::PatchTooCostly, ..error },
                other => other.into(),
            })?;
        if is_patch {
            expect_shape(media_type(&parts.headers), &value)?;
        }
        let work = Work { budget: app.budget.clone(), payer, _permit: permit };
        Ok(Self { body: Arc::new(value), is_patch, work: Some(work), base: Pointer::root(), preconditions })
    }
}

/// Refuses a patch that is not of the kind its media type names; `application/json` may be either.
fn expect_shape(media_type: &str, patch: &Value) -> ApiResult<()> {
    let message = match patch {
        Value::Object(_) if media_type.eq_ignore_ascii_case(JSON_PATCH) => {
            format!("A JSON Patch is an array of operations. Send an object as {MERGE_PATCH}.")
        }
        Value::Array(_) if media_type.eq_ignore_ascii_case(MERGE_PATCH) => {
            format!("A JSON Merge Patch is an object. Send an array of operations as {JSON_PATCH}.")
        }
        _ => return Ok(()),
    };
    Err(ApiError::new(ErrorCode::InvalidPatch, message))
}

/// Unwraps a resource from the answer it was read in: an object with only it and the envelope.
pub(super) fn unnest(body: &mut Value, member: &str) -> Option<Value> {
    let members = body.as_object_mut()?;
    let is_answer = members.get(member).is_some_and(Value::is_object)
        && members.keys().all(|name| name == member || ENVELOPE.contains(&name.as_str()));
    if is_answer { members.remove(member) } else { None }
}

impl Change {
    /// The same change without the member that answers wrap the resource in, so that a client can send an answer back.
    #[must_use]
    pub fn nested(mut self, member: &str) -> Self {
        if let Some(inner) = unnest(Arc::make_mut(&mut self.body), member) {
            self.body = Arc::new(inner);
            self.base = self.base.member(member);
        }
        self
    }

    /// The new state of the resource, given its current view.
    ///
    /// An expensive patch is applied on a blocking thread, queued fairly by payer.
    pub async fn apply(&self, current: &(impl serde::Serialize + Sync)) -> ApiResult<Value> {
        if !self.is_patch {
            return Ok(Value::clone(&self.body));
        }
        let current = serde_json::to_value(current).map_err(internal)?;
        if let Some(applied) = apply_patch_at_once(&current, &self.body, INLINE_STEPS) {
            return Ok(applied?);
        }
        let body = Arc::clone(&self.body);
        let apply = move || apply_patch(&current, &body);
        let applied = match &self.work {
            Some(work) => work.budget.run(work.payer, PATCHED_BYTES, apply).await?,
            None => apply(),
        };
        Ok(applied?)
    }

    /// Whether the body sets the member at this path.
    pub fn sets(&self, path: &[&str]) -> bool {
        match &*self.body {
            Value::Array(operations) if self.is_patch => {
                let pointer = path.iter().fold(Pointer::root(), |pointer, name| pointer.member(name));
                operations.iter().any(|operation| writes(operation, pointer.as_str()))
            }
            Value::Object(_) if self.is_patch => merges(&self.body, path),
            _ => true,
        }
    }

    /// The error with its pointers relative to the body as the client sent it.
    pub fn rebase(&self, mut error: ApiError) -> ApiError {
        for problem in &mut error.problems {
            problem.pointer = problem.pointer.below(&self.base);
        }
        error
    }
}

/// Whether an operation of a JSON Patch writes this path or an ancestor of it.
fn writes(operation: &Value, pointer: &str) -> bool {
    let holds = |member: &str| {
        operation[member].as_str().is_some_and(|path| {
            pointer.strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
    };
    match operation["op"].as_str() {
        Some("test") => false,
        Some("move") => holds("path") || holds("from"),
        _ => holds("path"),
    }
}

/// Whether a JSON Merge Patch writes this path or an ancestor of it.
fn merges(changes: &Value, path: &[&str]) -> bool {
    match (changes, path.split_first()) {
        (Value::Object(members), Some((name, rest))) => {
            members.get(*name).is_some_and(|member| merges(member, rest))
        }
        _ => true,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn change(body: Value, is_patch: bool) -> Change {
        let (body, preconditions) = (Arc::new(body), Preconditions::default());
        Change { body, is_patch, work: None, base: Pointer::root(), preconditions }
    }

    #[test]
    fn finds_the_members_that_a_patch_sets() {
        let check = |body: Value, expect: bool| {
            assert_eq!(change(body.clone(), true).sets(&["limits", "expires"]), expect, "{body}");
        };
        check(json!({}), false);
        check(json!({"limits": {"expirationDate": "2026-12-31"}}), false);
        check(json!({"limits": {"expires": false}}), true);
        check(json!({"limits": null}), true);
        let operation =
            |op: &str, path: &str| json!([{"op": op, "path": path, "value": false, "from": "/name"}]);
        check(operation("test", "/limits/expires"), false);
        check(operation("replace", "/limits/expires"), true);
        check(operation("add", "/limits"), true);
        check(operation("add", ""), true);
        check(operation("add", "/limits/expirationDate"), false);
        check(operation("add", "/limit"), false);
        check(json!([{"op": "move", "from": "/limits/expires", "path": "/name"}]), true);
        assert!(change(json!({}), false).sets(&["limits", "expires"]), "a replacement says everything");
    }

    #[test]
    fn takes_the_resource_out_of_its_answer() {
        let check = |body: Value, expect: &Value| {
            assert_eq!(&*change(body, false).nested("device").body, expect);
        };
        let device = json!({"name": "Star"});
        check(json!({"success": true, "apiUsage": 1, "apiDailyUsage": 1, "device": device}), &device);
        check(json!({"device": device}), &device);
        for kept in
            [json!({"device": device, "name": "Moon"}), json!({"device": 5}), json!([]), device.clone()]
        {
            check(kept.clone(), &kept);
        }
    }
}
