//! The parts of a parsed mapping.

use std::collections::HashSet;

use serde_json::Value as Json;

use crate::feed::SosStep;

/// A path to a value of the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// Number of items to go up.
    pub up: usize,
    /// JSON pointer from that item; empty for the item itself.
    pub pointer: String,
}

/// The path to a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// JSON pointer from the item of the previous step.
    pub pointer: String,
    /// Whether the value is a text that contains JSON.
    pub json: bool,
}

/// The comparison of a condition.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The value equals this one; a number equals its text.
    Equals(Json),
    /// The value is different or missing.
    NotEquals(Json),
    /// The value is one of these.
    In(Vec<Json>),
    /// Whether the value must be present and not null.
    Exists(bool),
    /// The number is equal or greater.
    AtLeast(f64),
    /// The number is equal or less.
    AtMost(f64),
}

/// A condition that a value must meet for its field or message to be used.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The value to compare.
    pub path: Path,
    /// What the value is compared with.
    pub test: Test,
}

/// The encoding of bytes in a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Two hexadecimal digits a byte, in any letter case.
    Hex,
    /// Base64 of RFC 4648 with the standard alphabet.
    Base64,
}

/// The source of the value of a field.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// Paths of the value; the first that is present is used.
    pub paths: Vec<Path>,
    /// The value if no path is present.
    pub value: Option<Json>,
    /// The factor, including that of the unit.
    pub scale: f64,
    /// The number to add after the factor.
    pub add: f64,
    /// Set if the value is a payload for the payload decoder of the device.
    pub encoding: Option<Encoding>,
    /// A number that means unknown, such as −1.
    pub none: Option<f64>,
    /// All conditions must be true.
    pub when: Vec<Condition>,
}

/// A mapping: how the body of a webhook becomes messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// Nested lists whose items are messages; if empty, the body is one message or a list of messages.
    pub each: Vec<Step>,
    /// Items for which these conditions are not true are skipped.
    pub when: Vec<Condition>,
    /// Parts of the deduplication key, joined by slashes; all must be present.
    pub key: Vec<Path>,
    /// Paths of the identifiers. All that have a value are used, as alternatives in this order.
    pub identifiers: Vec<Path>,
    /// Members of a report such as `latitude`, and readings, in order.
    pub fields: Vec<(String, Source)>,
    /// Objects whose members become readings unless a field has used them.
    pub rest: Vec<Path>,
    /// Text that a person wrote.
    pub text: Vec<Path>,
    /// Steps of an emergency; the first whose conditions are true is used.
    pub sos: Vec<(SosStep, Vec<Condition>)>,
    /// The message is a test if these conditions are true; never if there are none.
    pub test: Vec<Condition>,
    /// Names of members that fields have used.
    pub(super) taken: HashSet<String>,
}
