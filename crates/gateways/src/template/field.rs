//! The parts of a parsed template.

use serde_json::Value as Json;

/// The order of a number's bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Endian {
    /// Highest byte first.
    #[default]
    Big,
    /// Lowest byte first.
    Little,
}

/// The position of a number, and how its bits are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Offset from the start of the record, in bytes; if negative, from its end.
    pub offset: i64,
    /// 1 to 8 bytes.
    pub width: usize,
    /// The order of its bytes.
    pub endian: Endian,
    /// Bits that are used. They are shifted down until the lowest of them is bit 0.
    pub mask: u64,
    /// Whether the used bits are two's complement.
    pub signed: bool,
}

/// The encoding of the bytes of a field.
#[derive(Clone, Debug, PartialEq)]
pub enum Kind {
    /// `raw * scale + add`; a raw number equal to `none` means that there is no value.
    Number {
        /// The bits that hold the number.
        number: Number,
        /// The number is multiplied by this.
        scale: f64,
        /// Added after the factor.
        add: f64,
        /// The raw number for "no value".
        none: Option<i64>,
    },
    /// True when the raw number is not 0.
    Flag(Number),
    /// IEEE 754 of 4 or 8 bytes, times `scale` plus `add`.
    Float {
        /// The position of the float; its mask and sign are not used.
        number: Number,
        /// The number is multiplied by this.
        scale: f64,
        /// Added after the factor.
        add: f64,
    },
    /// UTF-8, up to the first zero byte.
    Text {
        /// As in [`Number::offset`].
        offset: i64,
        /// Number of bytes; if none, up to the end.
        width: Option<usize>,
    },
    /// Hexadecimal digits of the bytes.
    Hex {
        /// As in [`Number::offset`].
        offset: i64,
        /// Number of bytes; if none, up to the end.
        width: Option<usize>,
    },
    /// A constant of every record.
    Constant(Json),
}

/// The comparison of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// The number is equal.
    Equals(i64),
    /// The number is different.
    NotEquals(i64),
    /// The number is equal or greater.
    AtLeast(i64),
    /// The number is equal or less.
    AtMost(i64),
}

/// The condition under which a field is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The number to compare; if none, the size of the record in bytes.
    pub number: Option<Number>,
    /// The number to compare with.
    pub test: Test,
}

/// One field of a template: its name, its bits, and the conditions under which it is present.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// A member of a report such as `latitude`, or the name of a reading.
    pub name: String,
    /// The value of the field.
    pub kind: Kind,
    /// All conditions must be true.
    pub when: Vec<Condition>,
    /// Whether the field may be missing in a record that is too short.
    pub optional: bool,
}

/// A template: how the payload of a device model is decoded.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Bytes before the first record.
    pub start: usize,
    /// Size of a record, in bytes; if none, the rest of the payload is one record.
    pub record: Option<usize>,
    /// In the order of the setting.
    pub fields: Vec<Field>,
}
