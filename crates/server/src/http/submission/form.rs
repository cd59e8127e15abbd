//! The forms of a body: items to store in one of several wrappings, or a span of time to answer.

use serde_json::{Map, Value};

use super::batch::{Batch, ItemError, Judged};
use super::quick::Quick;
use crate::http::code::Code;
use crate::http::error::{ApiError, ApiResult, invalid_body, malformed_json};
use crate::http::json::{Fields, Pointer, Problem, Scanner, parse_strict};

/// How the items of a body are called, how many it may bring, and how each is read.
#[derive(Debug)]
pub struct Forms<T> {
    /// The member that holds one item.
    pub one: &'static str,
    /// The member that holds several.
    pub many: &'static str,
    /// Items at the most.
    pub most: usize,
    /// Judges an item that lies at this place of the body.
    pub judge: fn(&Value, Pointer) -> Result<T, ItemError>,
    /// Reads an item straight from the text, if it is an ordinary one; gives what `judge` would give.
    pub scan: fn(&mut Scanner<'_>) -> Option<T>,
}

/// How the items of a body are separated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    /// One JSON document.
    Document,
    /// A JSON document a line; a line that is none spoils only itself.
    Lines,
}

/// What a body asks for.
#[derive(Debug)]
pub enum Asked<T> {
    /// To store these, unless none of them is good.
    Store(ApiResult<Batch<T>>),
    /// To answer a span of time, told by these members.
    Range(Map<String, Value>),
}

/// Where the items lie in the body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// The body is the item.
    Whole,
    /// The item is this member.
    Member(&'static str),
    /// The body is the array.
    Array,
    /// The array is this member.
    MemberArray(&'static str),
}

impl Place {
    /// The place of an item in the body.
    pub(super) fn of(self, index: usize) -> Pointer {
        match self {
            Self::Whole => Pointer::root(),
            Self::Member(name) => Pointer::root().member(name),
            Self::Array => Pointer::root().item(index),
            Self::MemberArray(name) => Pointer::root().member(name).item(index),
        }
    }

    /// How many arrays and objects an item lies in.
    pub(super) const fn depth(self) -> usize {
        match self {
            Self::Whole => 0,
            Self::Member(_) | Self::Array => 1,
            Self::MemberArray(_) => 2,
        }
    }
}

impl<T> Forms<T> {
    /// Tells what a body asks for, and judges the items it brings.
    pub fn read(&self, body: &[u8], layout: Layout) -> ApiResult<Asked<T>> {
        self.read_within(body, layout, usize::MAX).unwrap_or_else(|| self.read_document(body))
    }

    /// Does the same, unless more than so many bytes would have to be read the careful way. The quick way, through
    /// `Quick`, takes far less time and gives the same.
    pub fn read_within(&self, body: &[u8], layout: Layout, careful: usize) -> Option<ApiResult<Asked<T>>> {
        let quick = Quick::new(self, careful);
        match layout {
            Layout::Lines => quick.lines(body),
            Layout::Document => quick
                .document(body)
                .map(|judged| Ok(Asked::Store(judged.finish())))
                .or_else(|| (body.len() <= careful).then(|| self.read_document(body))),
        }
    }

    /// Does the same for a document the careful way, through a value of all of it.
    pub fn read_document(&self, body: &[u8]) -> ApiResult<Asked<T>> {
        self.tell(parse_strict(body).map_err(malformed_json)?)
    }

    /// An object with a `dateTime` is an item whatever else it has: one that was answered has an `alerts`
    /// of its own, and another system's may have a `location` in words.
    fn tell(&self, document: Value) -> ApiResult<Asked<T>> {
        let (items, place) = match document {
            Value::Array(items) => (items, Place::Array),
            Value::Object(mut body) if !body.contains_key("dateTime") => {
                if body.contains_key(self.many) || body.contains_key(self.one) {
                    self.unwrap(&mut body)?
                } else if body.contains_key("from") || body.contains_key("to") {
                    return Ok(Asked::Range(body));
                } else {
                    (vec![Value::Object(body)], Place::Whole)
                }
            }
            other => (vec![other], Place::Whole),
        };
        self.check_count(items.len())?;
        let mut judged = Judged::new();
        for (index, item) in items.iter().enumerate() {
            judged.add((self.judge)(item, place.of(index)));
        }
        Ok(Asked::Store(judged.finish()))
    }

    fn unwrap(&self, body: &mut Map<String, Value>) -> ApiResult<(Vec<Value>, Place)> {
        let mut fields = Fields::of_object(body, Pointer::root());
        // A client that asks with a span of time and stores with the same body is not told off.
        fields.ignore(&["from", "to"]);
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
            Some(Value::Array(items)) => (items, Place::MemberArray(self.many)),
            _ => (vec![body.remove(self.one).unwrap_or_default()], Place::Member(self.one)),
        })
    }

    /// Refuses a body that brings none or too many.
    pub(super) fn check_count(&self, count: usize) -> ApiResult<()> {
        let Self { many, most, .. } = self;
        match count {
            0 => Err(invalid_body(vec![Problem {
                pointer: Pointer::root(),
                detail: format!("The body brings no {many}. Send at least one."),
            }])),
            count if count > *most => Err(ApiError::new(
                Code::BodyTooLarge,
                format!(
                    "The body brings {count} {many}; at most {most} are taken at a time. Send them in parts."
                ),
            )),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    static FORMS: Forms<Pointer> =
        Forms { one: "alert", many: "alerts", most: 3, judge: |_, place| Ok(place), scan: |_| None };

    fn read(body: &Value) -> ApiResult<Asked<Pointer>> {
        FORMS.read(body.to_string().as_bytes(), Layout::Document)
    }

    fn stores(body: &Value, count: usize, first: &str) {
        match read(body) {
            Ok(Asked::Store(Ok(batch))) => {
                assert_eq!((batch.good.len(), batch.good[0].as_str()), (count, first), "{body}");
            }
            other => panic!("{body} gave {other:?}"),
        }
    }

    fn refuses(body: &Value, code: Code, message: &str) {
        match read(body) {
            Err(error) => assert_eq!((error.code, error.message.as_str()), (code, message), "{body}"),
            Ok(other) => panic!("{body} gave {other:?}"),
        }
    }

    #[test]
    fn tells_the_forms_apart() {
        stores(&json!({"dateTime": "x"}), 1, "");
        stores(&json!({"dateTime": "x", "alerts": ["SOSButton"], "alert": "words"}), 1, "");
        stores(&json!({}), 1, "");
        stores(&json!(5), 1, "");
        stores(&json!([{}, 5]), 2, "/0");
        stores(&json!({"alerts": [{}]}), 1, "/alerts/0");
        stores(&json!({"alert": {}, "from": 1, "to": 2}), 1, "/alert");
        for body in [json!({"from": 1, "to": 2}), json!({"to": 2, "limit": 5})] {
            assert!(matches!(read(&body), Ok(Asked::Range(_))), "{body}");
        }
    }

    #[test]
    fn refuses_other_wrappings() {
        refuses(&json!([]), Code::InvalidBody, "The body brings no alerts. Send at least one.");
        refuses(&json!({"alerts": []}), Code::InvalidBody, "The body brings no alerts. Send at least one.");
        refuses(&json!({"alerts": {}}), Code::InvalidBody, "\"alerts\" must be an array.");
        refuses(&json!({"alert": null}), Code::InvalidBody, "\"alert\" is required and must not be null.");
        refuses(
            &json!({"alerts": [{}], "alert": {}}),
            Code::InvalidBody,
            "Unknown member \"alert\". Leave it out.",
        );
        refuses(
            &json!([0, 1, 2, 3]),
            Code::BodyTooLarge,
            "The body brings 4 alerts; at most 3 are taken at a time. Send them in parts.",
        );
    }
}
