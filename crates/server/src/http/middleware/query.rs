//! Refuses unknown query parameters of writes: a client must not believe that, say, `dryRun` was honoured.

use std::collections::HashMap;
use std::sync::Arc;

use axum::extract::Request;
use http::Method;
use serde_json::Value;

use crate::http::error::ApiResult;
use crate::http::extract::Params;

/// The query parameters that the document names, by method and route.
#[derive(Clone, Debug)]
pub struct KnownParameters(Arc<HashMap<(Method, String), Vec<String>>>);

impl KnownParameters {
    /// Collects the parameters from the API's document.
    pub fn of(document: &Value) -> Self {
        let mut known = HashMap::new();
        for (path, item) in document["paths"].as_object().into_iter().flatten() {
            for (method, operation) in item.as_object().into_iter().flatten() {
                let Ok(method) = method.to_uppercase().parse::<Method>() else { continue };
                let parameters = operation["parameters"].as_array().into_iter().flatten();
                let queries = parameters.filter(|parameter| parameter["in"] == "query");
                let names = queries.filter_map(|query| query["name"].as_str().map(str::to_owned)).collect();
                known.insert((method, path.clone()), names);
            }
        }
        Self(Arc::new(known))
    }

    /// Refuses a write with a query parameter that its operation does not have. Reads check theirs with `Params`.
    pub fn check(&self, request: &Request, route: Option<&str>) -> ApiResult<()> {
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        if is_read || request.uri().query().is_none() {
            return Ok(());
        }
        let operation = route.map(|route| (request.method().clone(), route.to_owned()));
        let Some(names) = operation.and_then(|operation| self.0.get(&operation)) else { return Ok(()) };
        let mut params = Params::of(request.uri());
        for name in names {
            params.text(name);
        }
        params.finish()
    }
}
