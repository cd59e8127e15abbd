//! Searching by a part of a text or by a tag, the same on both engines.

use perigee_core::error::StoreError;
use perigee_core::store::Result;
use perigee_core::text::Tags;

/// The search text of a row: its fields in lower case, one per line.
pub(crate) fn searchable(fields: &[Option<&str>]) -> String {
    let lines: Vec<String> = fields.iter().flatten().map(|field| lowercase(field)).collect();
    lines.join("\n")
}

/// The text in lower case, letter by letter: context-dependent rules, such as for a final sigma, would keep a part from
/// being found in the whole.
pub(crate) fn lowercase(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).collect()
}

/// The stored form of tags: JSON without spaces, sorted by key.
pub(crate) fn tags_text(tags: &Tags) -> Result<String> {
    serde_json::to_string(tags).map_err(|cause| StoreError::Internal(cause.into()))
}

/// The text that the stored form has after `{` or `,` if this tag is among the tags.
///
/// Inside a JSON string a quotation mark is escaped, so `{"` and `,"` occur only where a key begins.
pub(crate) fn tag_text((key, value): &(String, String)) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    format!("{}:{}", quoted(key), quoted(value))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(tags: &[(&str, &str)], key: &str, value: &str) -> bool {
        let tags: Tags = tags.iter().map(|(key, value)| ((*key).into(), (*value).into())).collect();
        let (text, part) = (tags_text(&tags).unwrap(), tag_text(&(key.into(), value.into())));
        text.contains(&format!("{{{part}")) || text.contains(&format!(",{part}"))
    }

    #[test]
    fn a_tag_is_found_whole_or_not_at_all() {
        assert!(has(&[("a", "x"), ("b", "y")], "a", "x"));
        assert!(has(&[("a", "x"), ("b", "y")], "b", "y"));
        assert!(has(&[("\"", "\\")], "\"", "\\"));
        assert!(!has(&[("a", "x"), ("b", "y")], "a", "y"));
        assert!(!has(&[("ab", "x")], "b", "x"));
        assert!(!has(&[("a", "xy")], "a", "x"));
        assert!(!has(&[("x\"b", "y")], "b", "y"));
        assert!(!has(&[("x,\"b", "y")], "b", "y"));
        assert!(!has(&[("a", "{\"b\":\"y\"}")], "b", "y"));
        assert!(!has(&[("\"\\", "y")], "\\", "y"));
        assert!(!has(&[("", "")], "a", ""));
    }

    #[test]
    fn a_part_is_found_in_the_whole_in_any_case() {
        let text = searchable(&[Some("ΟΔΟΣ Ana"), None, Some("İzmir")]);
        for part in ["οδοσ ana", "ΟΔΟ", "ΟΔΟΣ", "ANA", "İZMIR"] {
            assert!(text.contains(&lowercase(part)), "{part}");
        }
        assert_eq!(text.lines().count(), 2);
    }
}
