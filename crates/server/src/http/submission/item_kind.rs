//! The layouts of a submission: items to store, wrapped in several ways, or a time range to answer.

use perigee_core::zone::Zone;
use serde_json::{Map, Value};

use super::batch::{Batch, BatchBuilder, ItemError};
use super::fast_path::FastPath;
use crate::http::error::{ApiError, ApiResult, invalid_body, malformed_json};
use crate::http::error_code::ErrorCode;
use crate::http::json::{Fields, Pointer, Problem, Scanner, parse_strict};

/// The kind of items in a body: their member names, their limit, and how each is read.
#[derive(Debug)]
pub struct ItemKind<T> {
    /// The member that holds one item.
    pub one: &'static str,
    /// The member that holds several.
    pub many: &'static str,
    /// The most items in one body.
    pub most: usize,
    /// Checks the members beside wrapped items: reports problems, and ignores members without a meaning.
    pub beside: fn(&mut Fields<'_>),
    /// Validates an item at this pointer of the body. Times without an offset are in the zone.
    pub validate: fn(&Value, Pointer, &Zone) -> Result<T, ItemError>,
    /// Reads an item from the text without a JSON value, if its form is common; the result is that of `validate`.
    pub scan: fn(&mut Scanner<'_>, &Zone) -> Option<T>,
}

/// How the items of a body are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One JSON document, with one item or several.
    Document,
    /// NDJSON: one item a line; an invalid line rejects only its own item.
    Lines,
}

/// The request in a body.
#[derive(Debug)]
pub enum BodyContent<T> {
    /// Store these items, if any of them is valid.
    Store(ApiResult<Batch<T>>),
    /// Store these items, and answer the time range in these members.
    StoreAndRange(ApiResult<Batch<T>>, Map<String, Value>),
    /// Answer the time range in these members.
    Range(Map<String, Value>),
}

/// Where the items are in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ItemPosition {
    /// The body is the item.
    Whole,
    /// The item is this member.
    Member(&'static str),
    /// The body is the array.
    Array,
    /// The array is this member.
    MemberArray(&'static str),
}

impl ItemPosition {
    /// The pointer of an item in the body.
    pub(super) fn of(self, index: usize) -> Pointer {
        match self {
            Self::Whole => Pointer::root(),
            Self::Member(name) => Pointer::root().member(name),
            Self::Array => Pointer::root().item(index),
            Self::MemberArray(name) => Pointer::root().member(name).item(index),
        }
    }

    /// The nesting depth of an item.
    pub(super) const fn depth(self) -> usize {
        match self {
            Self::Whole => 0,
            Self::Member(_) | Self::Array => 1,
            Self::MemberArray(_) => 2,
        }
    }
}

/// The members of a time range.
pub(super) const RANGE_ENDS: [&str; 2] = ["from", "to"];

/// Whether a body has a time range beside items: both ends are given and not null.
fn has_range(body: &Map<String, Value>) -> bool {
    RANGE_ENDS.iter().all(|name| body.get(*name).is_some_and(|end| !end.is_null()))
}

/// Whether a value is null or empty.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null => true,
        Value::Object(members) => members.is_empty(),
        Value::Array(items) => items.is_empty(),
        _ => false,
    }
}

/// Ignores a time range beside items; a value for [`ItemKind::beside`].
pub fn ignore_range(fields: &mut Fields<'_>) {
    fields.ignore(&RANGE_ENDS);
    fields.ignore(&["limit", "cursor"]);
}

impl<T> ItemKind<T> {
    /// Reads a body and validates its items. Times without an offset are in the zone.
    pub fn read(&self, body: &[u8], layout: Layout, zone: &Zone) -> ApiResult<BodyContent<T>> {
        self.read_within(body, layout, zone, usize::MAX).unwrap_or_else(|| self.read_document(body, zone))
    }

    /// The same, unless more than `slow_bytes` bytes need the slow path. The fast path, `FastPath`, takes far less time
    /// and returns the same result.
    pub fn read_within(
        &self,
        body: &[u8],
        layout: Layout,
        zone: &Zone,
        slow_bytes: usize,
    ) -> Option<ApiResult<BodyContent<T>>> {
        let fast_path = FastPath::new(self, zone, slow_bytes);
        match layout {
            Layout::Lines => fast_path.lines(body),
            Layout::Document => fast_path
                .document(body)
                .map(|items| Ok(BodyContent::Store(items.finish())))
                .or_else(|| (body.len() <= slow_bytes).then(|| self.read_document(body, zone))),
        }
    }

    /// The same for a document on the slow path, through a JSON value of all of it.
    pub fn read_document(&self, body: &[u8], zone: &Zone) -> ApiResult<BodyContent<T>> {
        self.classify(parse_strict(body).map_err(malformed_json)?, zone)
    }

    /// An object with a `dateTime` is an item whatever else it has: a location as answered has a member `alerts`,
    /// and another system's item may have a textual `location`.
    fn classify(&self, document: Value, zone: &Zone) -> ApiResult<BodyContent<T>> {
        let mut range = None;
        let (items, position) = match document {
            Value::Array(items) => (items, ItemPosition::Array),
            Value::Object(mut body) if !body.contains_key("dateTime") => {
                let asks_range = RANGE_ENDS.iter().any(|name| body.contains_key(*name));
                let has_items = [self.one, self.many]
                    .iter()
                    .any(|name| body.get(*name).is_some_and(|value| !is_empty(value)));
                if asks_range || has_items {
                    // Beside a time range or other items, null or empty ones count as absent: some clients send every
                    // member.
                    body.retain(|name, value| !(is_empty(value) && (name == self.one || name == self.many)));
                    // An empty end counts as absent, too.
                    body.retain(|name, value| !(*value == "" && RANGE_ENDS.contains(&name.as_str())));
                }
                if body.contains_key(self.many) || body.contains_key(self.one) {
                    let items = self.unwrap(&mut body)?;
                    range = has_range(&body).then_some(body);
                    items
                } else if asks_range {
                    return Ok(BodyContent::Range(body));
                } else {
                    (vec![Value::Object(body)], ItemPosition::Whole)
                }
            }
            other => (vec![other], ItemPosition::Whole),
        };
        self.check_count(items.len())?;
        let mut batch = BatchBuilder::new();
        for (index, item) in items.iter().enumerate() {
            batch.add((self.validate)(item, position.of(index), zone));
        }
        Ok(match range {
            Some(range) => BodyContent::StoreAndRange(batch.finish(), range),
            None => BodyContent::Store(batch.finish()),
        })
    }

    fn unwrap(&self, body: &mut Map<String, Value>) -> ApiResult<(Vec<Value>, ItemPosition)> {
        let mut fields = Fields::of_object(body, Pointer::root());
        (self.beside)(&mut fields);
        if fields.has(self.many) {
            fields.raw(self.many).check(|value| match value {
                Value::Array(_) => Ok(()),
                _ => Err("must be an array".into()),
            })
        } else {
            fields.raw(self.one)
        }
        .required();
        fields.finish(|| Some(())).map_err(invalid_body)?;
        Ok(match body.remove(self.many) {
            Some(Value::Array(items)) => (items, ItemPosition::MemberArray(self.many)),
            _ => (vec![body.remove(self.one).unwrap_or_default()], ItemPosition::Member(self.one)),
        })
    }

    /// Refuses a body with no items or too many.
    pub(super) fn check_count(&self, count: usize) -> ApiResult<()> {
        let Self { many, most, .. } = self;
        match count {
            0 => Err(invalid_body(vec![Problem {
                pointer: Pointer::root(),
                detail: format!("The body has no {many}. Send at least one."),
            }])),
            count if count > *most => Err(ApiError::new(
                ErrorCode::BodyTooLarge,
                format!("The body has {count} {many}; the maximum is {most}. Send them in parts."),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    static KIND: ItemKind<Pointer> = ItemKind {
        one: "alert",
        many: "alerts",
        most: 3,
        beside: ignore_range,
        validate: |_, pointer, _| Ok(pointer),
        scan: |_, _| None,
    };

    fn read(body: &Value) -> ApiResult<BodyContent<Pointer>> {
        KIND.read(body.to_string().as_bytes(), Layout::Document, &Zone::utc())
    }

    fn stores(body: &Value, count: usize, first: &str) {
        match read(body) {
            Ok(BodyContent::Store(Ok(batch))) => {
                assert_eq!((batch.good.len(), batch.good[0].as_str()), (count, first), "{body}");
            }
            other => panic!("{body} gave {other:?}"),
        }
    }

    fn refuses(body: &Value, code: ErrorCode, message: &str) {
        match read(body) {
            Err(error) => assert_eq!((error.code, error.message.as_str()), (code, message), "{body}"),
            Ok(other) => panic!("{body} gave {other:?}"),
        }
    }

    #[test]
    fn distinguishes_the_forms() {
        stores(&json!({"dateTime": "x"}), 1, "");
        stores(&json!({"dateTime": "x", "alerts": ["SOSButton"], "alert": "words"}), 1, "");
        stores(&json!({}), 1, "");
        stores(&json!(5), 1, "");
        stores(&json!([{}, 5]), 2, "/0");
        for several in [json!({"alerts": [{}]}), json!({"alerts": [{}], "alert": {}, "from": null})] {
            stores(&several, 1, "/alerts/0");
        }
        for alone in [
            json!({"alert": {"text": "x"}, "from": 1}),
            json!({"alert": {"text": "x"}, "from": null, "to": "", "limit": null}),
        ] {
            stores(&alone, 1, "/alert");
        }
        for body in [
            json!({"from": 1, "to": 2}),
            json!({"to": 2, "limit": 5}),
            json!({"from": 1, "to": 2, "alert": null, "alerts": null}),
            json!({"from": 1, "to": 2, "alert": {}}),
        ] {
            let Ok(BodyContent::Range(range)) = read(&body) else { panic!("{body} is a span of time") };
            assert!(!range.contains_key("alert") && !range.contains_key("alerts"), "{body}");
        }
        let Ok(BodyContent::StoreAndRange(Ok(batch), range)) =
            read(&json!({"alert": {"text": "x"}, "from": 1, "to": 2}))
        else {
            panic!("both are asked for");
        };
        assert_eq!((batch.good.len(), json!(range)), (1, json!({"from": 1, "to": 2})));
    }

    #[test]
    fn refuses_other_wrappings() {
        refuses(&json!([]), ErrorCode::InvalidBody, "The body has no alerts. Send at least one.");
        refuses(&json!({"alerts": []}), ErrorCode::InvalidBody, "The body has no alerts. Send at least one.");
        refuses(&json!({"alerts": {}}), ErrorCode::InvalidBody, "\"alerts\" must be an array.");
        refuses(
            &json!({"alert": null}),
            ErrorCode::InvalidBody,
            "\"alert\" is required and must not be null.",
        );
        refuses(
            &json!({"alerts": [{}], "alert": {"text": "x"}}),
            ErrorCode::InvalidBody,
            "Unknown member \"alert\". Leave it out.",
        );
        refuses(
            &json!([0, 1, 2, 3]),
            ErrorCode::BodyTooLarge,
            "The body has 4 alerts; the maximum is 3. Send them in parts.",
        );
    }
}
