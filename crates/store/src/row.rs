//! Rows of a result, the same for both engines, with typed getters.

use std::sync::Arc;

use perigee_core::time::Timestamp;

use crate::error::DbError;
use crate::value::Value;

/// One row of a query's result.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    columns: Arc<[Box<str>]>,
    values: Vec<Value>,
}

/// Identifies a column: by name, or by position from 0.
pub trait Column: Copy + std::fmt::Display {
    /// The position of the column among these.
    fn position(self, columns: &[Box<str>]) -> Option<usize>;
}

impl Column for &str {
    fn position(self, columns: &[Box<str>]) -> Option<usize> {
        columns.iter().position(|name| **name == *self)
    }
}

impl Column for usize {
    fn position(self, columns: &[Box<str>]) -> Option<usize> {
        (self < columns.len()).then_some(self)
    }
}

/// Defines a getter for a required value and one for a nullable value.
macro_rules! getters {
    ($($what:literal $name:ident, $optional:ident -> $type:ty { $($pattern:pat => $result:expr),+ $(,)? })+) => {$(
        #[doc = concat!("The ", $what, " in this column.")]
        pub fn $name(&self, column: impl Column) -> Result<$type, DbError> {
            match self.value(column)? {
                $($pattern => Ok($result),)+
                other => Err(Self::mismatch(column, $what, other)),
            }
        }

        #[doc = concat!("The ", $what, " in this column, if any.")]
        pub fn $optional(&self, column: impl Column) -> Result<Option<$type>, DbError> {
            match self.value(column)? {
                Value::Null => Ok(None),
                _ => self.$name(column).map(Some),
            }
        }
    )+};
}

impl Row {
    pub(crate) fn new(columns: Arc<[Box<str>]>, values: Vec<Value>) -> Self {
        Self { columns, values }
    }

    /// The value in this column, whatever its type.
    pub fn value(&self, column: impl Column) -> Result<&Value, DbError> {
        column
            .position(&self.columns)
            .and_then(|position| self.values.get(position))
            .ok_or_else(|| DbError::internal(format!("the answer has no column {column}")))
    }

    /// The columns with their names, in order.
    pub(crate) fn columns(&self) -> impl Iterator<Item = (&str, &Value)> {
        self.columns.iter().map(|name| &**name).zip(&self.values)
    }

    /// The same row with another value at this position.
    pub(crate) fn with_value(&self, position: usize, value: Value) -> Self {
        let mut row = self.clone();
        if let Some(slot) = row.values.get_mut(position) {
            *slot = value;
        }
        row
    }

    fn mismatch(column: impl Column, wanted: &str, found: &Value) -> DbError {
        DbError::internal(format!("column {column} holds {}, not {wanted}", found.kind()))
    }

    getters! {
        "integer" i64, opt_i64 -> i64 { Value::Int(value) => *value }
        "number" f64, opt_f64 -> f64 { Value::Real(value) => *value }
        // SQLite has no boolean type.
        "boolean" bool, opt_bool -> bool {
            Value::Bool(value) => *value,
            Value::Int(0) => false,
            Value::Int(1) => true,
        }
        "instant" timestamp, opt_timestamp -> Timestamp { Value::Int(value) => Timestamp::from_millis(*value) }
        "text" text, opt_text -> String { Value::Text(value) => value.clone() }
        "borrowed text" str, opt_str -> &str { Value::Text(value) => value.as_str() }
        "byte string" bytes, opt_bytes -> Vec<u8> { Value::Bytes(value) => value.clone() }
        "borrowed byte string" bytes_ref, opt_bytes_ref -> &[u8] { Value::Bytes(value) => value.as_slice() }
    }

    /// The integer in this column, as a narrower type.
    pub fn int<T: TryFrom<i64>>(&self, column: impl Column) -> Result<T, DbError> {
        let number = self.i64(column)?;
        T::try_from(number).map_err(|_out_of_range| {
            DbError::internal(format!("column {column} holds {number}, which is out of range"))
        })
    }

    /// The integer in this column, as a narrower type, if any.
    pub fn opt_int<T: TryFrom<i64>>(&self, column: impl Column) -> Result<Option<T>, DbError> {
        match self.value(column)? {
            Value::Null => Ok(None),
            _ => self.int(column).map(Some),
        }
    }
}
