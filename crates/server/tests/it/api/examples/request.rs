//! The requests that the document shows.

use std::fmt;

use serde_json::Value;

/// A request with one example of its body.
pub(super) struct Request<'d> {
    pub(super) method: String,
    pub(super) path: &'d str,
    pub(super) media_type: &'d str,
    pub(super) example: &'d Value,
    /// The parameters of the path, and those of the query that must be given: where, name, example.
    pub(super) parameters: Vec<(&'d str, &'d str, &'d Value)>,
    /// The statuses of success in the document.
    pub(super) promised: Vec<u16>,
    /// Whether it needs a console session.
    pub(super) needs_session: bool,
}

impl fmt::Display for Request<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} ({}) with {}", self.method, self.path, self.media_type, self.example)
    }
}

/// Every example of a body in the document. A body without one is a failure.
pub(super) fn requests(document: &Value) -> Vec<Request<'_>> {
    let mut found = Vec::new();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for (media_type, content) in operation["requestBody"]["content"].as_object().into_iter().flatten()
            {
                let one = content.get("example").into_iter();
                let named = content["examples"].as_object().into_iter().flatten();
                let examples: Vec<&Value> = one.chain(named.map(|(_, example)| &example["value"])).collect();
                assert!(!examples.is_empty(), "{method} {path} has no example of {media_type}");
                found.extend(examples.into_iter().map(|example| Request {
                    method: method.to_uppercase(),
                    path,
                    media_type,
                    example,
                    parameters: parameters(operation),
                    promised: promised(operation),
                    needs_session: operation["security"] == serde_json::json!([{ "session": [] }]),
                }));
            }
        }
    }
    found
}

fn parameters(operation: &Value) -> Vec<(&str, &str, &Value)> {
    let all = operation["parameters"].as_array().into_iter().flatten();
    let wanted = all.filter(|parameter| parameter["required"] == true);
    wanted
        .map(|parameter| {
            let name = parameter["name"].as_str().unwrap();
            let example = parameter.get("example").or_else(|| parameter["schema"].get("example"));
            let example = example.unwrap_or_else(|| panic!("the parameter {name} has no example"));
            (parameter["in"].as_str().unwrap(), name, example)
        })
        .collect()
}

fn promised(operation: &Value) -> Vec<u16> {
    let statuses = operation["responses"].as_object().unwrap().keys();
    statuses.filter(|status| status.starts_with('2')).map(|status| status.parse().unwrap()).collect()
}
