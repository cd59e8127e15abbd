//! Adds to every operation the parts that handlers do not repeat: envelope, errors, security, headers and both kinds of
//! patch.

use serde_json::{Value, json};

use super::answer_limits::limit_answers;
use super::envelope::{answer_schema, referenced};
use super::example::example;
use super::json_patch;
use super::merge_patch::merge_patch;
use super::parameters::{add_path_parameters, limit_parameters};
use super::shared::{header_references, headers, problem_reference, problems};
use super::webhooks::webhooks;
use crate::http::error_code::ErrorCode;
use crate::http::middleware::TOKEN_PATH;

/// Says what the schemas do not: under `application/json` either kind of patch is accepted. With a schema that allows
/// an object or an array, client generators write code that does not compile.
const BOTH_PATCHES: &str = "The body is a JSON Merge Patch (RFC 7396), an object with the members to change, in which null \
    removes a value, or a JSON Patch (RFC 6902), an array of operations of which all or none are applied. Both are accepted \
    as `application/json`.";

/// The value of a header with at least one visible character.
const PRINTABLE: &str = r"^[\t -~]*[!-~][\t -~]*$";
/// Entity tags in double quotes, or `*`.
const ENTITY_TAGS: &str = r#"^(\*|(W/)?"[!#-+\--~]*"(, ?(W/)?"[!#-+\--~]*")*)$"#;

const METHODS: [&str; 5] = ["get", "post", "put", "patch", "delete"];

/// Completes a document generated from the handlers.
pub(super) fn finish(document: &mut Value) {
    document["openapi"] = json!("3.1.0");
    // Reserves the position among the members; the address is added when the document is served.
    document["servers"] = json!([]);
    document["components"]["securitySchemes"] = json!({
        "token": {
            "type": "http", "scheme": "bearer", "bearerFormat": "JWT",
            "description": "Bearer token from `POST /api/Auth/Token`."
        },
        "session": {
            "type": "apiKey", "in": "cookie", "name": crate::http::authenticate::SESSION_COOKIE,
            "description": "Cookie of a console session, set by `POST /api/session`."
        }
    });
    let mut paths = document["paths"].take();
    let mut schemas = document["components"]["schemas"].take();
    limit_answers(&mut schemas);
    allow_several_choices(&mut schemas);
    for (path, item) in paths.as_object_mut().into_iter().flatten() {
        for method in METHODS {
            if let Some(body) = item.get_mut(method) {
                Operation { path, method, body, schemas: &mut schemas }.finish();
            }
        }
    }
    limit_parameters(&mut paths, &schemas);
    name_error_codes(&mut schemas);
    for content in contents(&mut paths) {
        if content.get("example").is_none() && content.get("examples").is_none() {
            content["example"] = example(&content["schema"], &schemas);
        }
    }
    json_patch::offer(&mut paths, &mut schemas);
    document["webhooks"] = webhooks(&schemas);
    document["paths"] = paths;
    document["components"]["schemas"] = schemas;
    document["components"]["responses"] = problems();
    document["components"]["headers"] = headers();
}

/// All request and response bodies of all operations.
fn contents(paths: &mut Value) -> Vec<&mut Value> {
    let mut found = Vec::new();
    for item in paths.as_object_mut().into_iter().flatten().map(|(_, item)| item) {
        for operation in item.as_object_mut().into_iter().flatten().map(|(_, operation)| operation) {
            let Some(operation) = operation.as_object_mut() else { continue };
            for (part, value) in operation {
                let bodies: Vec<&mut Value> = match part.as_str() {
                    "requestBody" => vec![value],
                    "responses" => {
                        value.as_object_mut().into_iter().flatten().map(|(_, response)| response).collect()
                    }
                    _ => Vec::new(),
                };
                for body in bodies {
                    found.extend(
                        body.get_mut("content")
                            .and_then(Value::as_object_mut)
                            .into_iter()
                            .flatten()
                            .map(|(_, content)| content),
                    );
                }
            }
        }
    }
    found
}

struct Operation<'d> {
    path: &'d str,
    method: &'d str,
    body: &'d mut Value,
    schemas: &'d mut Value,
}

/// The authentication that an operation requires, from the `security` of its handler.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    /// None: `security(())`.
    Open,
    /// A console session: `security(("session" = []))`.
    Session,
    /// A token or a session: no `security`.
    Any,
}

impl Operation<'_> {
    fn finish(mut self) {
        let access = self.access();
        add_path_parameters(self.path, self.body);
        if access == Access::Any {
            self.body["security"] = json!([{ "token": [] }, { "session": [] }]);
        }
        if self.path.starts_with("/api/") && self.path != TOKEN_PATH {
            self.envelop_answers(access);
        }
        if self.path != TOKEN_PATH {
            self.add_errors(access);
        }
        if self.method == "patch" {
            self.offer_merge_patch();
        }
        self.mark_binary_bodies();
        // Repeated locations and alerts are recognised by their content.
        let by_content = self.path.ends_with("/locations") || self.path.ends_with("/alerts");
        let creates = self.method == "post" && self.body.pointer("/responses/201").is_some();
        if creates && access == Access::Any && !by_content {
            self.add_header_parameter(
                "Idempotency-Key",
                "Unique key of the request, chosen by the client, for example a UUID. For 24 hours a repeated request with \
                 the same key and body returns the first result and creates nothing.",
                &json!({
                    "type": "string", "pattern": PRINTABLE, "maxLength": 255,
                    "example": "7f3c1d52-9a41-4f0e-8b1c-2d6e5a90c3b7"
                }),
            );
        }
        if self.changes_a_revision(access) {
            self.add_header_parameter(
                "If-Match",
                "Entity tag of the revision to change, from the header `ETag`. The request fails with \
                 `precondition-failed` if the resource has changed since.",
                &json!({ "type": "string", "pattern": ENTITY_TAGS, "maxLength": 1000, "example": "\"r3\"" }),
            );
        }
        self.add_answer_headers();
    }

    fn access(&self) -> Access {
        match self.body.get("security").and_then(Value::as_array) {
            None => Access::Any,
            Some(ways) if ways.iter().any(|way| way.get("session").is_some()) => Access::Session,
            Some(_) => Access::Open,
        }
    }

    /// Whether it changes one resource that has an entity tag. Histories, commands, messages, credentials, logos,
    /// suspensions and copied maps have none.
    fn changes_a_revision(&self, access: Access) -> bool {
        let is_without_tag = self.path.ends_with("/locations")
            || self.path.starts_with("/api/commands/")
            || self.path.starts_with("/api/conversationMessages/")
            || self.path.starts_with("/api/operator/maps/")
            || ["/links/{linkId}", "/logo", "/suspension"].iter().any(|end| self.path.ends_with(end))
            || ["/api/session", "/api/session/password", "/api/session/totp", "/api/account/apiKey"]
                .contains(&self.path);
        access != Access::Open && matches!(self.method, "put" | "patch" | "delete") && !is_without_tag
    }

    /// Points every 2xx JSON answer to a copy of its schema with the envelope in front.
    fn envelop_answers(&mut self, access: Access) {
        let responses = self.body["responses"].as_object_mut().into_iter().flatten();
        for (status, response) in responses {
            if !status.starts_with('2') {
                continue;
            }
            let Some(schema) = response.pointer_mut("/content/application~1json/schema") else { continue };
            let Some(name) = referenced(schema).map(str::to_owned) else { continue };
            let answer = answer_schema(&name, self.schemas, access != Access::Open);
            *schema = json!({ "$ref": format!("#/components/schemas/{answer}") });
        }
    }

    fn add_errors(&mut self, access: Access) {
        let has_body = self.body.get("requestBody").is_some();
        let has_path_parameter = self.path.contains('{');
        let writes = self.method != "get";
        let statuses = [
            (400, true),
            (401, access != Access::Open || has_body),
            (403, access != Access::Open || writes),
            (404, has_path_parameter),
            (405, true),
            (406, true),
            (408, has_body),
            (409, writes),
            (412, self.changes_a_revision(access)),
            (413, has_body),
            (414, true),
            (415, has_body),
            (422, matches!(self.method, "post" | "patch")),
            (429, true),
            (500, true),
            (503, true),
        ];
        for (status, applies) in statuses {
            let responses = &mut self.body["responses"];
            // An error that a handler names without a body gets the shared body.
            let has_no_body = |named: &Value| named.get("content").is_none();
            if responses.get(status.to_string()).map_or(applies, has_no_body) {
                responses[status.to_string()] = problem_reference(status);
            }
        }
    }

    /// Describes images as binary data; a handler can only declare them as text.
    fn mark_binary_bodies(&mut self) {
        let content = self.body.pointer_mut("/requestBody/content").and_then(Value::as_object_mut);
        for (media_type, body) in content.into_iter().flatten() {
            if media_type.starts_with("image/") || media_type == "application/octet-stream" {
                body["schema"] = json!({ "type": "string", "format": "binary" });
            }
        }
    }

    /// Derives the merge patch of a PATCH from the body of the PUT. [`json_patch`] adds the other kind.
    fn offer_merge_patch(&mut self) {
        let schema = self.body.pointer("/requestBody/content/application~1json/schema");
        let Some(name) = schema.and_then(referenced).map(str::to_owned) else { return };
        let partial = merge_patch(&name, self.schemas);
        let merge = json!({ "$ref": format!("#/components/schemas/{partial}") });
        self.body["requestBody"]["content"] = json!({
            "application/json": { "schema": merge },
            "application/merge-patch+json": { "schema": merge },
        });
        let own = self.body["description"].as_str().map(|own| format!("{own}\n\n")).unwrap_or_default();
        self.body["description"] = json!(format!("{own}{BOTH_PATCHES}"));
    }

    fn add_header_parameter(&mut self, name: &str, description: &str, schema: &Value) {
        if self.body.get("parameters").is_none() {
            self.body["parameters"] = json!([]);
        }
        if let Some(parameters) = self.body["parameters"].as_array_mut() {
            parameters.push(json!({
                "name": name, "in": "header", "required": false, "description": description,
                "schema": schema
            }));
        }
    }

    fn add_answer_headers(&mut self) {
        for (_, response) in self.body["responses"].as_object_mut().into_iter().flatten() {
            if response.get("$ref").is_none() {
                response["headers"] = header_references();
            }
        }
    }
}

/// Turns the choices of untagged types from `oneOf` into `anyOf`: a body may match two of them.
fn allow_several_choices(schemas: &mut Value) {
    for (_, schema) in schemas.as_object_mut().into_iter().flatten() {
        if let Some(choices) = schema.as_object_mut().and_then(|schema| schema.remove("oneOf")) {
            schema["anyOf"] = choices;
        }
    }
}

/// Writes the closed list of codes into the schema of errors.
fn name_error_codes(schemas: &mut Value) {
    let codes: Vec<&str> = ErrorCode::ALL.iter().map(|code| code.name()).collect();
    schemas["Problem"]["properties"]["code"]["enum"] = json!(codes);
}
