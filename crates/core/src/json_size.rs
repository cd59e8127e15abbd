//! The memory that a JSON text takes once it is parsed, estimated without parsing it. A text with many small values
//! takes a hundred times its size.

use serde_json::Value;

/// Memory of a value in an array or an object.
const VALUE: usize = size_of::<Value>();
/// Memory of a member of an object: its value, the header of its name, its hash and its slot in the table.
const MEMBER: usize = VALUE + 56;
/// The overhead of an allocation, in bytes.
const ALLOCATION: usize = 16;
/// Elements for which an array or object has space after its first allocation.
const FIRST: usize = 4;

/// The number and size of the values that parsing a text would create.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct JsonSize {
    /// Values, nested ones included. Exact if the text is JSON.
    pub values: usize,
    /// Bytes of memory of all values and texts: an upper bound.
    pub bytes: usize,
}

impl JsonSize {
    /// Measures a text in one pass, without allocating. Text that is not JSON is measured as if it were.
    pub fn of(text: &[u8]) -> Self {
        let mut size = Self { values: 1, bytes: VALUE };
        let mut rest = text;
        while let Some((first, after)) = rest.split_first() {
            rest = after;
            match first {
                b'"' => {
                    let length = string_length(rest);
                    size.bytes += length + ALLOCATION;
                    rest = rest.get(length + 1..).unwrap_or_default();
                }
                // Vectors and tables double, so that up to half of them is empty.
                b',' => {
                    size.values += 1;
                    size.bytes += 2 * MEMBER;
                }
                b'[' if rest.trim_ascii_start().first() != Some(&b']') => {
                    size.values += 1;
                    size.bytes += FIRST * VALUE + ALLOCATION;
                }
                b'{' if rest.trim_ascii_start().first() != Some(&b'}') => {
                    size.values += 1;
                    size.bytes += FIRST * MEMBER + 2 * ALLOCATION;
                }
                _ => {}
            }
        }
        size
    }
}

/// Bytes before the quote that ends a string.
fn string_length(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(byte) = text.get(at) {
        match byte {
            b'"' => return at,
            b'\\' => at += 2,
            _ => at += 1,
        }
    }
    text.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_counted_as_a_parser_does() {
        fn count(value: &Value) -> usize {
            1 + match value {
                Value::Array(items) => items.iter().map(count).sum(),
                Value::Object(members) => members.values().map(count).sum(),
                _ => 0,
            }
        }
        for text in [
            "0",
            "[]",
            " [ ] ",
            "{}",
            "[[],[],{}]",
            "[1,2,[3,4,[5]]]",
            r#"{"a":{"b,c":"d[]{}\",","e\\":[{}]},"f":null}"#,
            r#"[{"a":0},{"a":0}]"#,
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(JsonSize::of(text.as_bytes()).values, count(&value), "{text}");
        }
    }

    #[test]
    fn small_objects_and_long_texts_are_expensive() {
        let objects = format!("[{}0]", r#"{"":0},"#.repeat(1_000));
        assert!(JsonSize::of(objects.as_bytes()).bytes > 1_000 * 4 * (size_of::<Value>() + 32));
        let text = format!("[\"{}\"]", "x".repeat(1_000));
        assert!((1_000..2_000).contains(&JsonSize::of(text.as_bytes()).bytes));
        for broken in ["\"", "\"\\", "[", "{", ",,,,"] {
            assert!(JsonSize::of(broken.as_bytes()).bytes > 0);
        }
    }
}
