//! The forms of a body: items to store in one of several wrappings, or a span of time to answer.

use serde_json::{Map, Value};

use crate::http::code::Code;
use crate::http::error::{ApiError, ApiResult, invalid_body};
use crate::http::extract::Submission;
use crate::http::json::{Fields, Pointer, Problem};

/// How the items of a body are called, and how many it may bring.
#[derive(Clone, Copy, Debug)]
pub struct Forms {
    /// The member that holds one item.
    pub one: &'static str,
    /// The member that holds several.
    pub many: &'static str,
    /// Items at the most.
    pub most: usize,
}

/// What a body asks for.
#[derive(Debug)]
pub enum Asked {
    /// To store these.
    Store(Items),
    /// To answer a span of time, told by these members.
    Range(Map<String, Value>),
}

/// Items to store, in the order they were sent.
#[derive(Debug)]
pub struct Items {
    pub(super) bodies: Vec<Result<Value, Problem>>,
    pub(super) place: Place,
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

impl Items {
    /// The place of an item in the body.
    pub(super) fn pointer(&self, index: usize) -> Pointer {
        match self.place {
            Place::Whole => Pointer::root(),
            Place::Member(name) => Pointer::root().member(name),
            Place::Array => Pointer::root().item(index),
            Place::MemberArray(name) => Pointer::root().member(name).item(index),
        }
    }
}

impl Forms {
    /// Tells what a body asks for.
    ///
    /// An object with a `dateTime` is an item whatever else it has: one that was answered has an `alerts`
    /// of its own, and another system's may have a `location` in words.
    pub fn read(&self, submission: Submission) -> ApiResult<Asked> {
        let items = match submission {
            Submission::Lines(bodies) => Items { bodies, place: Place::Array },
            Submission::Document(Value::Array(items)) => several(items, Place::Array),
            Submission::Document(Value::Object(mut body)) if !body.contains_key("dateTime") => {
                if body.contains_key(self.many) || body.contains_key(self.one) {
                    self.unwrap(&mut body)?
                } else if body.contains_key("from") || body.contains_key("to") {
                    return Ok(Asked::Range(body));
                } else {
                    single(Value::Object(body), Place::Whole)
                }
            }
            Submission::Document(other) => single(other, Place::Whole),
        };
        self.check_count(items.bodies.len())?;
        Ok(Asked::Store(items))
    }

    fn unwrap(&self, body: &mut Map<String, Value>) -> ApiResult<Items> {
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
            Some(Value::Array(items)) => several(items, Place::MemberArray(self.many)),
            _ => single(body.remove(self.one).unwrap_or_default(), Place::Member(self.one)),
        })
    }

    fn check_count(&self, count: usize) -> ApiResult<()> {
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

fn several(items: Vec<Value>, place: Place) -> Items {
    Items { bodies: items.into_iter().map(Ok).collect(), place }
}

fn single(item: Value, place: Place) -> Items {
    Items { bodies: vec![Ok(item)], place }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const FORMS: Forms = Forms { one: "alert", many: "alerts", most: 3 };

    fn stores(body: &Value, count: usize, first: &str) {
        match FORMS.read(Submission::Document(body.clone())) {
            Ok(Asked::Store(items)) => {
                assert_eq!((items.bodies.len(), items.pointer(0).as_str()), (count, first), "{body}");
            }
            other => panic!("{body} gave {other:?}"),
        }
    }

    fn refuses(body: &Value, code: Code, message: &str) {
        match FORMS.read(Submission::Document(body.clone())) {
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
            let asked = FORMS.read(Submission::Document(body.clone()));
            assert!(matches!(asked, Ok(Asked::Range(_))), "{body}");
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
