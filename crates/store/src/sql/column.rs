//! Columns that hold the text form of a domain type.

use std::str::FromStr;

use perigee_core::error::{Cause, StoreError};
use perigee_core::store::Result;
use serde::de::DeserializeOwned;

use crate::row::Row;

/// Parses the text in this column.
pub(crate) fn parsed<T>(row: &Row, column: &str) -> Result<T>
where
    T: FromStr,
    T::Err: Into<Cause>,
{
    row.str(column)?.parse().map_err(|cause: T::Err| unreadable(column, cause))
}

/// Parses the text in this column; `None` if it is null.
pub(crate) fn opt_parsed<T>(row: &Row, column: &str) -> Result<Option<T>>
where
    T: FromStr,
    T::Err: Into<Cause>,
{
    row.opt_str(column)?.map(str::parse).transpose().map_err(|cause: T::Err| unreadable(column, cause))
}

/// Deserialises the JSON in this column.
pub(crate) fn json<T: DeserializeOwned>(row: &Row, column: &str) -> Result<T> {
    serde_json::from_str(row.str(column)?).map_err(|cause| unreadable(column, cause))
}

/// The 32-byte hash in this column.
pub(crate) fn hash(row: &Row, column: &str) -> Result<[u8; 32]> {
    let bytes = row.bytes(column)?;
    bytes.try_into().map_err(|_bytes: Vec<u8>| unreadable(column, "not 32 bytes"))
}

/// The error for a stored value that this program cannot have written.
pub(crate) fn unreadable(column: &str, cause: impl Into<Cause>) -> StoreError {
    StoreError::Internal(format!("cannot read column {column}: {}", cause.into()).into())
}
