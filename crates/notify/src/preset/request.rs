//! Builds the request of a preset, with every value escaped for the place where it is inserted.

use http::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use http::{Method, Request};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use perigee_core::notifications::notification::{RequestBody, RequestPreset};
use serde_json::Value;
use url::Url;

use super::template::{PresetError, Values, fill, is_complete};
use crate::plain::one_line;

/// A request that is ready to be sent, without its URL, which was checked by another type.
pub(super) struct Ready {
    pub(super) url: Url,
    pub(super) request: Request<String>,
}

/// The request with these values.
pub(super) fn build(preset: &RequestPreset, server: &str, values: &Values<'_>) -> Result<Ready, PresetError> {
    let url = url(preset, server, values)?;
    let method = Method::try_from(preset.method.as_str())
        .map_err(|_detail| PresetError::Preset("the method".to_owned()))?;
    let mut request = Request::builder().method(method);
    let (kind, body) = body(&preset.body, values)?;
    if let Some(headers) = request.headers_mut() {
        *headers = self::headers(preset, values)?;
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(kind));
    }
    let request = request.body(body).map_err(|error| PresetError::Preset(error.to_string()))?;
    Ok(Ready { url, request })
}

/// The URL. Only an address that is a URL, and the server of the operator, are inserted as they are.
fn url(preset: &RequestPreset, server: &str, values: &Values<'_>) -> Result<Url, PresetError> {
    let escape = |name: &str, value: &str| {
        let is_whole = name == "server" || (name == "address" && preset.url.starts_with("{address}"));
        if is_whole { value.to_owned() } else { utf8_percent_encode(value, NON_ALPHANUMERIC).to_string() }
    };
    let mut values = values.clone();
    values.insert("server", server);
    let filled = fill(&preset.url, &values, escape)?;
    let url = Url::parse(&filled).map_err(|_detail| PresetError::Server)?;
    if !preset.url.starts_with("{address}") || server.is_empty() {
        return Ok(url);
    }
    // The operator has requests to this service go through another server.
    let path = url.query().map_or_else(|| url.path().to_owned(), |query| format!("{}?{query}", url.path()));
    Url::parse(&format!("{server}{path}")).map_err(|_detail| PresetError::Server)
}

fn headers(preset: &RequestPreset, values: &Values<'_>) -> Result<HeaderMap, PresetError> {
    let mut headers = HeaderMap::new();
    let line = |_: &str, value: &str| one_line(value);
    for (name, source) in preset.headers.iter().filter(|(_, source)| is_complete(source, values)) {
        let name = HeaderName::try_from(name).map_err(|_detail| PresetError::Header)?;
        let value = HeaderValue::try_from(fill(source, values, line)?);
        let mut value = value.map_err(|_detail| PresetError::Header)?;
        value.set_sensitive(true);
        headers.insert(name, value);
    }
    if let Some((user, password)) = &preset.basic {
        use base64::Engine as _;
        let plain = |_: &str, value: &str| value.to_owned();
        let pair = format!("{}:{}", fill(user, values, plain)?, fill(password, values, plain)?);
        let text = format!("Basic {}", base64::engine::general_purpose::STANDARD.encode(pair));
        let mut value = HeaderValue::try_from(text).map_err(|_detail| PresetError::Header)?;
        value.set_sensitive(true);
        headers.insert(AUTHORIZATION, value);
    }
    Ok(headers)
}

/// The content type and the body.
fn body(body: &RequestBody, values: &Values<'_>) -> Result<(&'static str, String), PresetError> {
    let plain = |_: &str, value: &str| value.to_owned();
    Ok(match body {
        RequestBody::Form(fields) => {
            let mut form = url::form_urlencoded::Serializer::new(String::new());
            for (name, source) in fields {
                form.append_pair(name, &fill(source, values, plain)?);
            }
            ("application/x-www-form-urlencoded", form.finish())
        }
        RequestBody::Json(document) => ("application/json", json(document, values)?.to_string()),
        RequestBody::Text(source) => ("text/plain; charset=utf-8", fill(source, values, plain)?),
    })
}

/// A JSON document with its texts filled. Values are inserted before it is written, so that none leaves its string.
fn json(document: &Value, values: &Values<'_>) -> Result<Value, PresetError> {
    Ok(match document {
        Value::String(source) => Value::String(fill(source, values, |_, value| value.to_owned())?),
        Value::Array(items) => {
            Value::Array(items.iter().map(|item| json(item, values)).collect::<Result<_, _>>()?)
        }
        Value::Object(members) => Value::Object(
            members
                .iter()
                .map(|(name, member)| Ok((name.clone(), json(member, values)?)))
                .collect::<Result<_, PresetError>>()?,
        ),
        other => other.clone(),
    })
}
