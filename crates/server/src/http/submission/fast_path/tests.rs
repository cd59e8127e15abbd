//! Tests that the fast path gives the same result as the slow path for every body.

use proptest::prelude::*;
use serde_json::Value;

use super::*;
use crate::http::error_code::ErrorCode;
use crate::http::json::parse_strict;
use crate::http::json::{Pointer, Problem};
use crate::http::submission::{Layout, ignore_range};

/// Items are `{"n": number}`; the scanner accepts only small numbers.
static KIND: ItemKind<i64> =
    ItemKind { one: "sample", many: "samples", most: 4, beside: ignore_range, validate, scan };

fn validate(item: &Value, pointer: Pointer, _zone: &Zone) -> Result<i64, ItemError> {
    let number =
        item.get("n").and_then(Value::as_i64).filter(|_| item.as_object().is_some_and(|all| all.len() == 1));
    let problem = || Problem { pointer, detail: format!("{item} is wrong.") };
    number.ok_or_else(|| ItemError { code: "invalid-sample", problems: vec![problem()] })
}

fn scan(scanner: &mut Scanner<'_>, _zone: &Zone) -> Option<i64> {
    if !(scanner.take(b'{') && scanner.name()? == "n") {
        return None;
    }
    let number = scanner.number()?.whole().filter(|number| (0..100).contains(number))?;
    scanner.take(b'}').then_some(number)
}

fn described(content: &ApiResult<BodyContent<i64>>) -> String {
    match content {
        Ok(BodyContent::Store(Err(error))) | Err(error) => {
            let is_validated = content.is_ok();
            format!("{is_validated} {:?} {} {:?}", error.code, error.message, error.problems)
        }
        other => format!("{other:?}"),
    }
}

fn slow_lines(body: &[u8]) -> ApiResult<BodyContent<i64>> {
    let lines = body.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
    let items: Vec<_> = lines.map(parse_strict).collect();
    KIND.check_count(items.len())?;
    let mut batch = BatchBuilder::new();
    for item in items {
        let pointer = Pointer::root().item(batch.count());
        batch.add(
            item.map_err(|problem| malformed(problem, &pointer))
                .and_then(|item| validate(&item, pointer, &Zone::utc())),
        );
    }
    Ok(BodyContent::Store(batch.finish()))
}

#[test]
fn an_invalid_line_rejects_only_its_own_item() {
    let content = KIND.read(b"{\"n\":1}\r\n\n{\"n\":\n \n{\"n\":200}\n2", Layout::Lines, &Zone::utc());
    let Ok(BodyContent::Store(Ok(batch))) = content else { panic!("lines are items") };
    assert_eq!((batch.good, batch.rejected.len()), (vec![1, 200], 2));
    let many = KIND.read("{\"n\":1}\n".repeat(5).as_bytes(), Layout::Lines, &Zone::utc()).unwrap_err();
    assert_eq!(many.code, ErrorCode::BodyTooLarge);
    let none = KIND.read(b" \n\r\n", Layout::Lines, &Zone::utc()).unwrap_err();
    assert_eq!(none.code, ErrorCode::InvalidBody);
}

#[test]
fn expensive_bodies_take_the_slow_path() {
    let body = br#"[{"n":1},{"n":200},{"n":2},{"n":300}]"#;
    assert!(KIND.read_within(body, Layout::Document, &Zone::utc(), 18).is_some());
    assert!(KIND.read_within(body, Layout::Document, &Zone::utc(), 17).is_none());
    assert!(KIND.read_within(b"{\"n\":200}\n{\"n\":1}", Layout::Lines, &Zone::utc(), 8).is_none());
    let unusual = br#"{"n": 1, "m": 2}"#;
    assert!(KIND.read_within(unusual, Layout::Document, &Zone::utc(), unusual.len()).is_some());
    assert!(KIND.read_within(unusual, Layout::Document, &Zone::utc(), unusual.len() - 1).is_none());
}

#[test]
fn documents_of_too_many_values_are_refused() {
    static MANY: ItemKind<i64> = ItemKind { most: usize::MAX, ..OTHER_KIND };
    const OTHER_KIND: ItemKind<i64> =
        ItemKind { one: "sample", many: "samples", most: 4, beside: ignore_range, validate, scan };
    let body = format!("[{}{{\"n\":1}}]", "{\"n\":1},".repeat(MAX_VALUES / 2));
    assert!(FastPath::new(&MANY, &Zone::utc(), usize::MAX).document(body.as_bytes()).is_none());
    let refused = MANY.read(body.as_bytes(), Layout::Document, &Zone::utc()).unwrap_err();
    assert_eq!(refused.message, "The body has more than 500000 values. Send it in parts.");
}

fn item() -> impl Strategy<Value = String> + Clone {
    prop_oneof![
        4 => (0..120_u8).prop_map(|number| format!("{{\"n\":{number}}}")),
        1 => Just("{\"n\" : 5.0 }".to_owned()),
        1 => Just("{\"n\":1,\"n\":2}".to_owned()),
        1 => Just("{\"n\":1,\"m\":[{\"a\":\"]}\\\"\"}]}".to_owned()),
        1 => Just("5".to_owned()),
        1 => Just("\"{\"".to_owned()),
        1 => (25..36_usize).prop_map(|depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth))),
    ]
}

fn document() -> impl Strategy<Value = String> {
    let items = prop::collection::vec(item(), 0..7);
    prop_oneof![
        item(),
        items.clone().prop_map(|items| format!(" [ {} ] ", items.join(" ,\n"))),
        items.clone().prop_map(|items| format!("{{\"samples\":[{}]}}", items.join(","))),
        items.clone().prop_map(|items| format!("{{\"samples\":[{}],\"to\":1}}", items.join(","))),
        items.prop_map(|items| format!("{{\"samples\":[{}],\"from\":0,\"to\":1}}", items.join(","))),
        item().prop_map(|item| format!("\u{feff}{{ \"sample\" : {item} }}")),
        item().prop_map(|item| format!("{{\"sample\":{item},\"dateTime\":1}}")),
        Just("{\"from\":1}".to_owned()),
    ]
}

fn mutated(body: String, change: Option<(prop::sample::Index, u8)>) -> Vec<u8> {
    let mut body = body.into_bytes();
    if let Some((index, byte)) = change {
        let index = index.index(body.len() + 1);
        match byte % 3 {
            0 if index < body.len() => drop(body.remove(index)),
            1 if index < body.len() => body[index] = byte,
            _ => body.insert(index, byte),
        }
    }
    body
}

proptest! {
    #[test]
    fn documents_are_read_alike(
        body in document(),
        change in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let body = mutated(body, change);
        let fast = KIND.read(&body, Layout::Document, &Zone::utc());
        prop_assert_eq!(described(&fast), described(&KIND.read_document(&body, &Zone::utc())), "{}", String::from_utf8_lossy(&body));
    }

    #[test]
    fn lines_are_read_alike(
        lines in prop::collection::vec(item(), 0..6),
        change in prop::option::of((any::<prop::sample::Index>(), any::<u8>())),
    ) {
        let body = mutated(lines.join("\n"), change);
        let fast = KIND.read(&body, Layout::Lines, &Zone::utc());
        prop_assert_eq!(described(&fast), described(&slow_lines(&body)), "{}", String::from_utf8_lossy(&body));
    }
}
