//! Refuses query parameters and entity tags that an operation does not support, before its handler runs. Otherwise a
//! client could believe that `dryRun` was honoured, or that `If-Match` protected a resource without an entity tag.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::Request;
use http::{HeaderName, Method, header};
use serde_json::Value;

use crate::http::error::{ApiError, ApiResult};
use crate::http::error_code::ErrorCode;
use crate::http::extract::Params;

/// The operations of the document, by method and route.
#[derive(Clone, Debug)]
pub struct KnownOperations(Arc<HashMap<String, HashMap<Method, Operation>>>);

#[derive(Debug)]
struct Operation {
    /// Names of its query parameters.
    parameters: Vec<String>,
    /// Whether it has an entity tag that `If-Match` is compared with.
    has_tag: bool,
    /// Whether anybody may use it without a token or a session.
    is_open: bool,
}

impl Operation {
    fn of(operation: &Value) -> Self {
        let named = |source: &str| -> Vec<String> {
            let parameters = operation["parameters"].as_array().into_iter().flatten();
            let sent_there = parameters.filter(|parameter| parameter["in"] == source);
            sent_there.filter_map(|parameter| parameter["name"].as_str().map(str::to_owned)).collect()
        };
        let mut ways = operation["security"].as_array().into_iter().flatten();
        Self {
            parameters: named("query"),
            has_tag: named("header").iter().any(|name| name.eq_ignore_ascii_case("If-Match")),
            is_open: ways.all(|way| way.as_object().is_none_or(serde_json::Map::is_empty)),
        }
    }
}

impl KnownOperations {
    /// Collects the operations from the API's document.
    pub fn of(document: &Value) -> Self {
        let mut known: HashMap<String, HashMap<Method, Operation>> = HashMap::new();
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                let Ok(method) = method.to_uppercase().parse::<Method>() else { continue };
                known.entry(path.clone()).or_default().insert(method, Operation::of(operation));
            }
        }
        Self(Arc::new(known))
    }

    fn find(&self, request: &Request, route: Option<&str>) -> Option<&Operation> {
        self.0.get(route?)?.get(request.method())
    }

    /// Refuses a write with a query parameter that its operation does not have, or with an entity tag for a resource
    /// that has none. Reads check their parameters with `Params`.
    pub fn check(&self, request: &Request, route: Option<&str>) -> ApiResult<()> {
        if matches!(*request.method(), Method::GET | Method::HEAD) {
            return Ok(());
        }
        let Some(operation) = self.find(request, route) else { return Ok(()) };
        if request.uri().query().is_some() {
            let mut params = Params::of(request.uri());
            for name in &operation.parameters {
                params.text(name);
            }
            params.finish()?;
        }
        let changes = matches!(*request.method(), Method::PUT | Method::PATCH | Method::DELETE);
        if changes && !operation.has_tag && names_tags(request, &header::IF_MATCH) {
            return Err(ApiError::new(
                ErrorCode::PreconditionFailed,
                "This resource has no entity tag, so If-Match cannot match. Leave out the header.",
            ));
        }
        Ok(())
    }

    /// Whether a request that no handler answers is authenticated and counted: the path is unknown, the path does not
    /// have the method, or the operation needs a token or a session.
    pub fn counts(&self, request: &Request, route: Option<&str>) -> bool {
        match route {
            None => request.uri().path().starts_with("/api/"),
            Some(route) => match (self.0.get(route), self.find(request, Some(route))) {
                (Some(_), Some(operation)) => !operation.is_open,
                (Some(methods), None) => methods.values().any(|operation| !operation.is_open),
                (None, _) => false,
            },
        }
    }

    /// Whether no handler answers the request.
    pub fn is_unanswered(&self, request: &Request, route: Option<&str>) -> bool {
        let is_head = request.method() == Method::HEAD;
        match route {
            None => true,
            Some(route) => {
                self.0.get(route).is_some_and(|methods| !is_head && !methods.contains_key(request.method()))
            }
        }
    }
}

/// Whether a header lists entity tags instead of `*`.
fn names_tags(request: &Request, name: &HeaderName) -> bool {
    request.headers().get_all(name).iter().any(|value| value.as_bytes().trim_ascii() != b"*")
}
