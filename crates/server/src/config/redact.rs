//! Hides secrets when settings are printed, and keeps the parts that help to find a mistake.

use std::collections::BTreeMap;

use secrecy::{ExposeSecret as _, SecretString};
use serde::Serializer;
use serde::ser::SerializeMap as _;
use serde_json::{Map, Value};

/// Replaces a secret inside a text.
const HIDDEN: &str = "(hidden)";
/// Replaces a setting that is a secret as a whole.
const SET: &str = "(set)";
/// The suffix that may follow a placeholder in a path: an extension or a scale, as in `{y}@2x.png`.
const SUFFIX_MAX: usize = 8;
/// Parameters of a PostgreSQL URL that contain no secret.
const PLAIN_PARAMETERS: [&str; 17] = [
    "application_name",
    "channel_binding",
    "connect_timeout",
    "dbname",
    "host",
    "hostaddr",
    "keepalives",
    "keepalives_idle",
    "keepalives_interval",
    "keepalives_retries",
    "load_balance_hosts",
    "port",
    "sslmode",
    "sslrootcert",
    "target_session_attrs",
    "tcp_user_timeout",
    "user",
];

/// Shows whether a secret is set.
pub(super) fn secret<S: Serializer>(secret: &SecretString, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(if secret.expose_secret().is_empty() { "" } else { SET })
}

/// Shows a database URL without the password.
pub(super) fn database<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&shown_database(text))
}

/// Shows a URL with its host and its placeholders. Providers put keys into user names, paths and queries.
pub(super) fn address<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&shown_address(text))
}

/// Shows the names of headers or form fields, and values that consist only of placeholders.
pub(super) fn values<S: Serializer>(
    values: &BTreeMap<String, String>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(values.len()))?;
    for (name, value) in values {
        map.serialize_entry(name, shown_value(value))?;
    }
    map.end()
}

/// Shows the members of a JSON document, and values that consist only of placeholders.
pub(super) fn json<S: Serializer>(text: &str, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&shown_json(text))
}

/// Shows the names of the options of each protocol; a value may be a password.
pub(super) fn options<S: Serializer>(
    options: &BTreeMap<String, Map<String, Value>>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(options.len()))?;
    for (protocol, members) in options {
        map.serialize_entry(protocol, &without_values(Value::Object(members.clone())))?;
    }
    map.end()
}

fn shown_database(text: &str) -> String {
    let Some((scheme, rest)) = text.split_once("://") else { return text.to_owned() };
    // A password may contain @ unescaped, so it ends at the last one.
    let rest = match rest.rsplit_once('@') {
        Some((user, address)) => match user.split_once(':') {
            Some((user, _password)) => format!("{user}:{HIDDEN}@{address}"),
            None => rest.to_owned(),
        },
        None => rest.to_owned(),
    };
    let (address, query) = match rest.split_once('?') {
        Some((address, query)) => (address, Some(query)),
        None => (rest.as_str(), None),
    };
    let query = query.map(|query| {
        let shown = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, _)) if !PLAIN_PARAMETERS.contains(&name) => format!("{name}={HIDDEN}"),
            Some(_) => pair.to_owned(),
            None => HIDDEN.to_owned(),
        });
        format!("?{}", shown.collect::<Vec<_>>().join("&"))
    });
    format!("{scheme}://{address}{}", query.unwrap_or_default())
}

fn shown_address(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    let Some((scheme, rest)) = text.split_once("://") else { return HIDDEN.to_owned() };
    let rest = rest.split('#').next().unwrap_or_default();
    let (address, query) = match rest.split_once('?') {
        Some((address, query)) => (address, Some(query)),
        None => (rest, None),
    };
    let mut segments = address.split('/');
    let host = segments.next().unwrap_or_default();
    let mut shown = match host.rsplit_once('@') {
        Some((_user, host)) => format!("{scheme}://{HIDDEN}@{host}"),
        None => format!("{scheme}://{host}"),
    };
    for segment in segments {
        shown.push('/');
        shown.push_str(if segment.is_empty() || is_plain_segment(segment) { segment } else { HIDDEN });
    }
    if let Some(query) = query {
        let pairs = query.split('&').map(|pair| match pair.split_once('=') {
            Some((name, value)) => format!("{name}={}", shown_value(value)),
            None => shown_value(pair).to_owned(),
        });
        shown.push('?');
        shown.push_str(&pairs.collect::<Vec<_>>().join("&"));
    }
    shown
}

fn shown_json(text: &str) -> String {
    if text.is_empty() {
        return String::new();
    }
    match serde_json::from_str(text) {
        Ok(document) => without_values(document).to_string(),
        Err(_not_json) => HIDDEN.to_owned(),
    }
}

fn without_values(document: Value) -> Value {
    match document {
        Value::Object(members) => {
            Value::Object(members.into_iter().map(|(name, value)| (name, without_values(value))).collect())
        }
        Value::Array(items) => Value::Array(items.into_iter().map(without_values).collect()),
        Value::String(text) => Value::String(shown_value(&text).to_owned()),
        Value::Number(_) => Value::String(HIDDEN.to_owned()),
        plain @ (Value::Bool(_) | Value::Null) => plain,
    }
}

/// The value if it consists only of placeholders.
fn shown_value(value: &str) -> &str {
    if without_placeholders(value).is_some_and(|rest| rest.is_empty()) { value } else { HIDDEN }
}

fn is_plain_segment(segment: &str) -> bool {
    let has_placeholder = segment.contains('{');
    let is_suffix =
        |rest: String| rest.is_empty() || (rest.len() <= SUFFIX_MAX && rest.starts_with(['.', '@']));
    has_placeholder && without_placeholders(segment).is_some_and(is_suffix)
}

/// The text without `{name}` placeholders; none if a brace is not closed.
fn without_placeholders(text: &str) -> Option<String> {
    let mut rest = text;
    let mut left = String::new();
    while let Some((before, after)) = rest.split_once('{') {
        left.push_str(before);
        let (name, after) = after.split_once('}')?;
        if !name.bytes().all(|byte| byte.is_ascii_lowercase()) {
            return None;
        }
        rest = after;
    }
    left.push_str(rest);
    Some(left)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn databases_are_shown_without_passwords() {
        for (text, expect) in [
            ("", ""),
            ("sqlite:./data/perigee.db", "sqlite:./data/perigee.db"),
            ("postgres://ana:s3cret@db/perigee", "postgres://ana:(hidden)@db/perigee"),
            ("postgres://ana:s3:c@r/et@a:5432,b:5432/p", "postgres://ana:(hidden)@a:5432,b:5432/p"),
            (
                "postgres://db/perigee?user=ana&password=s3cret&sslmode=require",
                "postgres://db/perigee?user=ana&password=(hidden)&sslmode=require",
            ),
            ("postgres://ana:s3?cret@db/perigee", "postgres://ana:(hidden)@db/perigee"),
        ] {
            assert_eq!(shown_database(text), expect, "{text}");
        }
    }

    #[test]
    fn addresses_are_shown_without_keys() {
        for (text, expect) in [
            ("", ""),
            ("not an address s3cret", "(hidden)"),
            (
                "https://sms.example.com/s3cret/send?to={number}&key=s3cret&s3cret",
                "https://sms.example.com/(hidden)/(hidden)?to={number}&key=(hidden)&(hidden)",
            ),
            ("https://ana:s3cret@sms.example.com:8443/", "https://(hidden)@sms.example.com:8443/"),
            (
                "https://tiles.example.com/s3cret/{z}/{x}/{y}@2x.png?key=s3cret#s3cret",
                "https://tiles.example.com/(hidden)/{z}/{x}/{y}@2x.png?key=(hidden)",
            ),
            ("https://a.example/x{number}s3cretlongtext", "https://a.example/(hidden)"),
        ] {
            assert_eq!(shown_address(text), expect, "{text}");
        }
    }

    #[test]
    fn documents_keep_their_members_and_placeholders() {
        for (text, expect) in [
            ("", ""),
            ("s3cret", "(hidden)"),
            (
                r#"{"to":["{number}"],"text":"{text}","auth":{"key":"s3cret","pin":1234},"flash":true}"#,
                r#"{"to":["{number}"],"text":"{text}","auth":{"key":"(hidden)","pin":"(hidden)"},"flash":true}"#,
            ),
        ] {
            assert_eq!(shown_json(text), expect, "{text}");
        }
        assert_eq!(shown_value("{number}"), "{number}");
        assert_eq!(shown_value("Bearer s3cret"), "(hidden)");
        assert_eq!(shown_value("{s3cret"), "(hidden)");
        assert_eq!(shown_value(""), "");
    }
}
