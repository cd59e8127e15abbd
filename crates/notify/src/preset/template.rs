//! Texts of a preset with placeholders such as `{address}` or `{text|markup}`.
//!
//! The caller, who knows the context, escapes the values; filters escape for a language inside that context.

use std::collections::BTreeMap;

use crate::plain::one_line;

/// Why a preset cannot be used with the settings of the operator.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PresetError {
    /// The channel has no preset.
    #[error("is not a channel with a preset")]
    NoPreset,
    /// A setting has no value.
    #[error("requires the setting \"{0}\"")]
    Missing(String),
    /// A setting that the preset does not have.
    #[error("has no setting \"{0}\"")]
    Unknown(String),
    /// The URL of the server cannot be used.
    #[error(
        "requires a \"server\" such as \"https://matrix.example.org\", without user name and query; http:// only with webhooks.allow_http"
    )]
    Server,
    /// A value cannot be sent in a header.
    #[error("has a setting that cannot be sent in a header")]
    Header,
    /// The entry of the preset is wrong.
    #[error("has a wrong preset: {0}")]
    Preset(String),
}

/// The values of placeholders, by their names.
pub(super) type Values<'v> = BTreeMap<&'v str, &'v str>;

/// Fills a text. Each value goes through its filter and then through `escape`. A value is never read as a template.
pub(super) fn fill(
    source: &str,
    values: &Values<'_>,
    escape: impl Fn(&str, &str) -> String,
) -> Result<String, PresetError> {
    let mut filled = String::new();
    let mut rest = source;
    while let Some((before, after)) = rest.split_once('{') {
        let wrong = || PresetError::Preset(format!("a placeholder in {source:?}"));
        let (placeholder, after) = after.split_once('}').ok_or_else(wrong)?;
        let (name, filter) = placeholder.split_once('|').unwrap_or((placeholder, ""));
        let value = values.get(name).copied().ok_or_else(wrong)?;
        let value = match filter {
            "" => value.to_owned(),
            "markup" => value.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;"),
            "line" => one_line(value),
            _ => return Err(wrong()),
        };
        filled.push_str(before);
        filled.push_str(&escape(name, &value));
        rest = after;
    }
    filled.push_str(rest);
    Ok(filled)
}

/// Whether every placeholder of a header has a value. A header without its value is not sent.
pub(super) fn is_complete(source: &str, values: &Values<'_>) -> bool {
    source.split('{').skip(1).all(|part| {
        let name = part.split(['}', '|']).next().unwrap_or_default();
        values.get(name).is_none_or(|value| !value.is_empty())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn values() -> Values<'static> {
        [("text", "<a> & {id}\r\nb"), ("id", "ntf_1"), ("token", "")].into()
    }

    #[test]
    fn values_are_filtered_escaped_and_read_once() {
        let filled = |source| fill(source, &values(), |_, value| value.replace('<', "(")).unwrap();
        assert_eq!(filled("{text|markup}!"), "&lt;a&gt; &amp; {id}\r\nb!");
        assert_eq!(filled("{id}: {text|line}"), "ntf_1: (a> & {id} b");
    }

    #[test]
    fn wrong_placeholders_are_refused() {
        for source in ["{nobody}", "{text", "{text|loud}"] {
            assert!(fill(source, &values(), |_, value| value.to_owned()).is_err(), "{source}");
        }
    }

    #[test]
    fn a_header_without_its_value_is_left_out() {
        assert!(!is_complete("Bearer {token}", &values()));
        assert!(is_complete("{id}", &values()));
    }
}
