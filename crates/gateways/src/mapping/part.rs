//! The parts of a mapping after it was read.

use std::collections::HashSet;

use serde_json::Value as Json;

use crate::feed::SosStep;

/// A place in the body.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Path {
    /// How many items up.
    pub up: usize,
    /// JSON pointer from there; empty for the item itself.
    pub pointer: String,
}

/// How a list is reached.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// From the item of the step before.
    pub pointer: String,
    /// The value is a text that has JSON in it.
    pub json: bool,
}

/// What a condition compares.
#[derive(Clone, Debug, PartialEq)]
pub enum Test {
    /// The value is this one; numbers and texts are taken for each other.
    Equals(Json),
    /// The value is another or missing.
    NotEquals(Json),
    /// The value is one of these.
    In(Vec<Json>),
    /// The value is there and not null, or is not.
    Exists(bool),
    /// The number is this or higher.
    AtLeast(f64),
    /// The number is this or lower.
    AtMost(f64),
}

/// A test that a value must pass for its field or message to count.
#[derive(Clone, Debug, PartialEq)]
pub struct Condition {
    /// The value that is looked at.
    pub path: Path,
    /// With what it is compared.
    pub test: Test,
}

/// How a text has bytes in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Encoding {
    /// Two hexadecimal digits a byte, in any letter case.
    Hex,
    /// Base64 of RFC 4648 with the standard alphabet.
    Base64,
}

/// Where the value of a field comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct Source {
    /// The first of these that is there.
    pub paths: Vec<Path>,
    /// Used when none is there.
    pub value: Option<Json>,
    /// Factor, of the unit too.
    pub scale: f64,
    /// Added after the factor.
    pub add: f64,
    /// Bytes for the device's payload decoder.
    pub encoding: Option<Encoding>,
    /// A number that means unknown, such as −1.
    pub none: Option<f64>,
    /// All of them must hold.
    pub when: Vec<Condition>,
}

/// How a webhook's body becomes messages.
#[derive(Clone, Debug, PartialEq)]
pub struct Mapping {
    /// Lists within lists whose items are messages; empty: the body is one message, or a list of them.
    pub each: Vec<Step>,
    /// Items for which this does not hold are passed over.
    pub when: Vec<Condition>,
    /// Parts of the dedupe key, joined by slashes; all must be there.
    pub key: Vec<Path>,
    /// Where the device's identifier may be; the first that has a value counts.
    pub identifiers: Vec<Path>,
    /// Members of a report such as `latitude`, and readings, in order.
    pub fields: Vec<(String, Source)>,
    /// Objects whose members become readings unless a field has taken them.
    pub rest: Vec<Path>,
    /// Text that a person wrote.
    pub text: Vec<Path>,
    /// The first whose conditions hold.
    pub sos: Vec<(SosStep, Vec<Condition>)>,
    /// A test message when these hold; never when there are none.
    pub test: Vec<Condition>,
    /// Names of members that fields have taken.
    pub(super) taken: HashSet<String>,
}
