//! Tests that the scanner reads common forms with the same result as the strict parser, and leaves rare ones to it.

use proptest::prelude::*;
use serde_json::Value;

use super::*;

/// The text as a value; None if the scanner does not read all of it.
fn scan(text: &str) -> Option<Value> {
    let mut scanner = Scanner::new(text);
    let value = match scanner.peek()? {
        b'"' => scanner.text()?.into(),
        b't' | b'f' => scanner.boolean()?.into(),
        b'n' => scanner.null().then_some(Value::Null)?,
        _ => {
            let number = scanner.number()?;
            if number.has_decimals() { number.to_f64()?.into() } else { number.whole()?.into() }
        }
    };
    scanner.is_at_end().then_some(value)
}

#[test]
fn common_forms_are_read() {
    for text in [
        "0",
        "-1",
        "12.50",
        "0.1",
        " 42.1234567 ",
        "-8.720765432109876",
        "123456789012345678",
        "-0.0",
        "1234567890123456789.5",
        "\"\"",
        "\"plain\"",
        "\"long enough for eight at a time\"",
        "\"é⛵ über\"",
        "true",
        "false",
        "null",
        "\"\u{7f}\"",
    ] {
        let strict = super::super::parse_strict(text.as_bytes()).unwrap();
        assert_eq!(scan(text), Some(strict), "{text}");
    }
}

#[test]
fn rare_and_invalid_forms_are_left() {
    for text in [
        "",
        " ",
        "1e2",
        "1E2",
        "01",
        "-",
        "-01",
        "1.",
        ".5",
        "+1",
        "1 2",
        "\"",
        "\"a",
        "\"a\\n\"",
        "\"seven b\\\"\"",
        "\"tab\there\"",
        "\"in the second eight\n\"",
        "tru",
        "truex",
        "nul",
        "NaN",
        "[1]",
        "{}",
        "'a'",
    ] {
        assert_eq!(scan(text), None, "{text}");
    }
}

#[test]
fn numbers_are_scaled_only_without_loss() {
    let number = |text: &'static str| Scanner::new(text).number().unwrap();
    assert_eq!(number("42.5").scaled(7), Some(425_000_000));
    assert_eq!(number("-0.0000001").scaled(7), Some(-1));
    assert_eq!(number("0.00000012").scaled(7), None);
    assert_eq!(number("123456789012345678").scaled(7), None, "too large");
    assert_eq!(number("1234567890123456789").scaled(0), None, "too long");
    assert_eq!((number("7").whole(), number("7.0").whole(), number("-0").whole()), (Some(7), None, None));
}

#[test]
fn nested_values_end_where_they_end() {
    for (text, expect) in [
        (r#" {"a": [1, "}\"]"]} , 5"#, Some(r#"{"a": [1, "}\"]"]}"#)),
        ("[[]]]", Some("[[]]")),
        ("{", None),
        ("{\"a\": \"\\", None),
        ("5", None),
    ] {
        assert_eq!(Scanner::new(text).nested(), expect, "{text}");
    }
}

proptest! {
    #[test]
    fn both_parsers_agree(
        text in "(-?[0-9]{1,20}(\\.[0-9]{0,20})?([eE]-?[0-9]{1,2})?)|(\"[ -~é\\x00-\\x1f]{0,20}\"?)|[a-z0-9.\\-\" ]{0,8}"
    ) {
        if let Some(value) = scan(&text) {
            let strict = super::super::parse_strict(text.as_bytes());
            prop_assert_eq!(format!("{:?}", Ok::<_, ()>(value)), format!("{strict:?}"));
        }
    }

    #[test]
    fn any_float_is_read_back(float in prop::num::f64::NORMAL | prop::num::f64::ZERO) {
        let text = format!("{float}");
        let number = Scanner::new(&text).number().unwrap();
        prop_assert_eq!(number.to_f64().map(f64::to_bits), Some(float.to_bits()));
    }

    #[test]
    fn the_first_special_byte_is_found(bytes in prop::array::uniform8(any::<u8>())) {
        let expect = bytes.iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
        let special = special_bytes(u64::from_le_bytes(bytes));
        let found = (special != 0).then(|| special.trailing_zeros() as usize / 8);
        prop_assert_eq!(found, expect);
    }
}
