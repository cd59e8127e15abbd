//! Converting values to and from PostgreSQL's types.

use std::error::Error;
use std::sync::Arc;

use bytes::BytesMut;
use tokio_postgres::types::{FromSql, IsNull, ToSql, Type, to_sql_checked};

use crate::error::DbError;
use crate::row::Row;
use crate::value::Value;

type BindError = Box<dyn Error + Sync + Send>;

impl ToSql for Value {
    fn to_sql(&self, wanted: &Type, out: &mut BytesMut) -> Result<IsNull, BindError> {
        match (self, wanted) {
            (Self::Null, _) => Ok(IsNull::Yes),
            (Self::Int(number), &Type::INT8) => number.to_sql(wanted, out),
            (Self::Int(number), &Type::INT4) => i32::try_from(*number)?.to_sql(wanted, out),
            (Self::Int(number), &Type::INT2) => i16::try_from(*number)?.to_sql(wanted, out),
            (Self::Real(number), &Type::FLOAT8) => number.to_sql(wanted, out),
            (Self::Bool(truth), &Type::BOOL) => truth.to_sql(wanted, out),
            (Self::Text(text), wanted) if <&str as ToSql>::accepts(wanted) => {
                text.as_str().to_sql(wanted, out)
            }
            (Self::Bytes(bytes), &Type::BYTEA) => bytes.as_slice().to_sql(wanted, out),
            (value, wanted) => Err(format!("{} given where {wanted} is expected", value.kind()).into()),
        }
    }

    fn accepts(_wanted: &Type) -> bool {
        // Whether a type fits depends on the value, so this is checked when it is bound.
        true
    }

    to_sql_checked!();
}

impl<'a> FromSql<'a> for Value {
    fn from_sql(given: &Type, raw: &'a [u8]) -> Result<Self, BindError> {
        Ok(match *given {
            Type::INT8 => Self::Int(i64::from_sql(given, raw)?),
            Type::INT4 => Self::Int(i32::from_sql(given, raw)?.into()),
            Type::INT2 => Self::Int(i16::from_sql(given, raw)?.into()),
            Type::FLOAT8 => Self::Real(f64::from_sql(given, raw)?),
            Type::BOOL => Self::Bool(bool::from_sql(given, raw)?),
            Type::BYTEA => Self::Bytes(raw.to_vec()),
            Type::VOID => Self::Null,
            ref text if <&str as FromSql>::accepts(text) => {
                Self::Text(<&str>::from_sql(text, raw)?.to_owned())
            }
            ref other => {
                return Err(format!("type {other} is not used here; cast it in the statement").into());
            }
        })
    }

    fn from_sql_null(_given: &Type) -> Result<Self, BindError> {
        Ok(Self::Null)
    }

    fn accepts(_given: &Type) -> bool {
        true
    }
}

/// Converts the rows of a result.
pub(crate) fn read(rows: &[tokio_postgres::Row]) -> Result<Vec<Row>, DbError> {
    let Some(first) = rows.first() else { return Ok(Vec::new()) };
    let columns: Arc<[Box<str>]> = first.columns().iter().map(|column| Box::from(column.name())).collect();
    rows.iter()
        .map(|row| {
            let values = (0..columns.len())
                .map(|position| row.try_get(position))
                .collect::<Result<_, _>>()
                .map_err(|error| DbError::internal(crate::error::describe(&error)))?;
            Ok(Row::new(Arc::clone(&columns), values))
        })
        .collect()
}
