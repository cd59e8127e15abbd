//! The parts of a template after it was read.

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

/// Where a number is and how its bits are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Number {
    /// Bytes from the beginning of the record; negative: from its end.
    pub offset: i64,
    /// 1 to 8 bytes.
    pub width: usize,
    /// The order of its bytes.
    pub endian: Endian,
    /// Bits that count. They are moved down until the lowest of them is bit 0.
    pub mask: u64,
    /// Two's complement of the bits that count.
    pub signed: bool,
}

/// What the bytes of a field are.
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
        /// Where it is; its mask and sign are not used.
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
        /// Bytes; none: up to the end.
        width: Option<usize>,
    },
    /// Hexadecimal digits of the bytes.
    Hex {
        /// As in [`Number::offset`].
        offset: i64,
        /// Bytes; none: up to the end.
        width: Option<usize>,
    },
    /// The same in every record.
    Constant(Json),
}

/// What a condition compares.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    /// The number is this one.
    Equals(i64),
    /// The number is another.
    NotEquals(i64),
    /// The number is this or higher.
    AtLeast(i64),
    /// The number is this or lower.
    AtMost(i64),
}

/// When a field is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Condition {
    /// The number that is compared; none: the bytes of the record.
    pub number: Option<Number>,
    /// What the number is compared with.
    pub test: Test,
}

/// One field of a template: its name, its bits, and when it is there.
#[derive(Clone, Debug, PartialEq)]
pub struct Field {
    /// A member of a report such as `latitude`, or the name of a reading.
    pub name: String,
    /// How it is read.
    pub kind: Kind,
    /// All of them must hold.
    pub when: Vec<Condition>,
    /// A record that is too short for it is no error.
    pub optional: bool,
}

/// How the payload of a device model is read.
#[derive(Clone, Debug, PartialEq)]
pub struct Template {
    /// Bytes before the first record.
    pub start: usize,
    /// Bytes of a record; none: the rest of the payload is one record.
    pub record: Option<usize>,
    /// In the order of the setting.
    pub fields: Vec<Field>,
}
