//! Names and values of readings, cheap to create: most names are constants and most values are numbers.

use std::fmt;

/// The name of a reading, as the API writes it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Name {
    /// A constant such as `rssi`.
    Fixed(&'static str),
    /// A constant, a number and a constant, such as `io27` or `tag1Temp`.
    Numbered(&'static str, u32, &'static str),
    /// A name that the frame itself carries.
    Sent(Box<str>),
}

/// The value of a reading.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Yes or no.
    Flag(bool),
    /// A whole number.
    Integer(i64),
    /// A number with a fraction. Infinite values and NaN are dropped when a location is created.
    Real(f64),
    /// A text that is a constant of the protocol.
    Word(&'static str),
    /// A text that the frame carries.
    Text(Box<str>),
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fixed(name) => f.write_str(name),
            Self::Numbered(before, number, after) => write!(f, "{before}{number}{after}"),
            Self::Sent(name) => f.write_str(name),
        }
    }
}

impl From<&'static str> for Name {
    fn from(name: &'static str) -> Self {
        Self::Fixed(name)
    }
}

impl From<(&'static str, u32)> for Name {
    fn from((before, number): (&'static str, u32)) -> Self {
        Self::Numbered(before, number, "")
    }
}

impl From<(&'static str, u32, &'static str)> for Name {
    fn from((before, number, after): (&'static str, u32, &'static str)) -> Self {
        Self::Numbered(before, number, after)
    }
}

impl From<String> for Name {
    fn from(name: String) -> Self {
        Self::Sent(name.into())
    }
}

impl Value {
    /// A text that the frame carries.
    pub fn text(text: &str) -> Self {
        Self::Text(text.into())
    }

    /// The number, if it is one.
    pub const fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Integer(number) => Some(crate::notation::number::real(*number)),
            Self::Real(number) => Some(*number),
            Self::Flag(_) | Self::Word(_) | Self::Text(_) => None,
        }
    }

    /// The text, if it is one.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::Word(text) => Some(text),
            Self::Text(text) => Some(text),
            Self::Flag(_) | Self::Integer(_) | Self::Real(_) => None,
        }
    }
}

impl From<bool> for Value {
    fn from(flag: bool) -> Self {
        Self::Flag(flag)
    }
}

macro_rules! whole {
    ($($type:ty)*) => {$(
        impl From<$type> for Value {
            fn from(number: $type) -> Self {
                Self::Integer(number.into())
            }
        }
    )*};
}

whole!(u8 i8 u16 i16 u32 i32 i64);

impl From<u64> for Value {
    /// A number that does not fit becomes a float.
    fn from(number: u64) -> Self {
        i64::try_from(number)
            .map_or_else(|_large| Self::Real(crate::notation::number::real_u64(number)), Self::Integer)
    }
}

impl From<f64> for Value {
    fn from(number: f64) -> Self {
        Self::Real(number)
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text.into())
    }
}
