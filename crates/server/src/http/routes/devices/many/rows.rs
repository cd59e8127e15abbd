//! Reads the rows of a body into JSON objects, whatever their layout.

use perigee_core::devices::new_devices::NEW_DEVICES_MAX;

use super::table::read_table;
use crate::http::error::malformed_json;
use crate::http::extract::RowLayout;
use crate::http::json::{Parsed, Unread, parse_bounded};
use crate::http::prelude::*;

/// Maximum number of JSON values in all rows of a body.
pub(super) const VALUES_MAX: usize = 150_000;

/// A row of a body.
#[derive(Debug)]
pub(super) struct Row {
    /// The line on which it begins, counted from 1; None in a JSON array.
    pub(super) line: Option<u64>,
    /// The device as JSON, or why the row cannot be read.
    pub(super) value: Result<Value, Problem>,
}

/// Reads all rows. Fails if the body as a whole cannot be read, or has too many of them.
pub(super) fn read_rows(bytes: &[u8], layout: RowLayout) -> ApiResult<Vec<Row>> {
    let rows = match layout {
        RowLayout::Array => read_array(bytes)?,
        RowLayout::Lines => read_lines(bytes)?,
        RowLayout::Table => read_table(bytes)?,
    };
    if rows.is_empty() {
        return Err(refused("The body has no devices. Send at least one."));
    }
    Ok(rows)
}

/// A body that cannot be used, whatever its rows are.
pub(super) fn refused(detail: impl Into<String>) -> ApiError {
    invalid_body(vec![Problem { pointer: Pointer::root(), detail: detail.into() }])
}

/// Refuses more rows than one call takes.
pub(super) fn require_room(rows: usize) -> ApiResult<()> {
    if rows <= NEW_DEVICES_MAX {
        return Ok(());
    }
    Err(refused(format!(
        "The body has more than {NEW_DEVICES_MAX} devices, the maximum. Send them in parts."
    )))
}

/// Refuses more values than one body may have.
pub(super) fn require_values(values: usize) -> ApiResult<()> {
    if values <= VALUES_MAX {
        return Ok(());
    }
    let detail = format!("The body has more than {VALUES_MAX} values. Send it in parts.");
    Err(ApiError::new(ErrorCode::BodyTooLarge, detail))
}

fn unread(unread: Unread) -> ApiError {
    if unread.is_too_large {
        ApiError::new(ErrorCode::BodyTooLarge, unread.problem.detail)
    } else {
        malformed_json(unread.problem)
    }
}

/// An array of devices, alone or as `devices` of an object.
fn read_array(bytes: &[u8]) -> ApiResult<Vec<Row>> {
    let Parsed { value, .. } = parse_bounded(bytes, VALUES_MAX).map_err(unread)?;
    let devices = match value {
        Value::Array(devices) => devices,
        Value::Object(mut members) => {
            let devices = members.remove("devices");
            let other = members.keys().find(|name| !ENVELOPE.contains(&name.as_str()));
            match (devices, other) {
                (Some(Value::Array(devices)), None) => devices,
                _ => return Err(not_a_list()),
            }
        }
        _ => return Err(not_a_list()),
    };
    require_room(devices.len())?;
    Ok(devices.into_iter().map(|value| Row { line: None, value: Ok(value) }).collect())
}

fn not_a_list() -> ApiError {
    refused("The body must be an array of devices, or an object with \"devices\" as its only member.")
}

/// One device on each line; blank lines are ignored.
fn read_lines(bytes: &[u8]) -> ApiResult<Vec<Row>> {
    let (mut rows, mut values) = (Vec::new(), 0);
    for (line, text) in (1..).zip(bytes.split(|byte| *byte == b'\n')) {
        if text.trim_ascii().is_empty() {
            continue;
        }
        require_room(rows.len() + 1)?;
        let value = match parse_bounded(text, VALUES_MAX - values) {
            Ok(Parsed { value, values: more }) => {
                values += more;
                Ok(value)
            }
            Err(unread) if unread.is_too_large => return Err(self::unread(unread)),
            Err(unread) => Err(unread.problem),
        };
        rows.push(Row { line: Some(line), value });
    }
    Ok(rows)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str, layout: RowLayout) -> ApiResult<Vec<Row>> {
        read_rows(text.as_bytes(), layout)
    }

    #[test]
    fn arrays_and_lines_are_read() {
        for text in [r#"[{"name": "a"}, 5]"#, r#"{"success": true, "devices": [{"name": "a"}, 5]}"#] {
            let rows = read(text, RowLayout::Array).unwrap();
            assert_eq!(rows[0].value.as_ref().unwrap()["name"], "a");
            assert_eq!(rows[1].value.as_ref().unwrap(), 5);
            assert_eq!(rows[0].line, None);
        }
        let rows = read("{\"name\": \"a\"}\r\n\n{\"name\"\n", RowLayout::Lines).unwrap();
        assert_eq!((rows[0].line, rows[1].line, rows.len()), (Some(1), Some(3), 2));
        assert!(rows[0].value.is_ok());
        assert!(rows[1].value.is_err());
    }

    #[test]
    fn bodies_that_are_no_list_are_refused() {
        for text in ["[]", "{}", "5", r#"{"devices": {}}"#, r#"{"devices": [{}], "name": "x"}"#] {
            assert_eq!(read(text, RowLayout::Array).unwrap_err().code, ErrorCode::InvalidBody, "{text}");
        }
        assert_eq!(read("[", RowLayout::Array).unwrap_err().code, ErrorCode::MalformedJson);
        assert_eq!(read("\n \n", RowLayout::Lines).unwrap_err().code, ErrorCode::InvalidBody);
    }

    #[test]
    fn rows_and_values_are_bounded() {
        let many = "{}\n".repeat(NEW_DEVICES_MAX + 1);
        assert_eq!(read(&many, RowLayout::Lines).unwrap_err().code, ErrorCode::InvalidBody);
        let many = format!("[{}0]", "0,".repeat(NEW_DEVICES_MAX));
        assert_eq!(read(&many, RowLayout::Array).unwrap_err().code, ErrorCode::InvalidBody);
        let deep = format!("[[{}0]]", "0,".repeat(VALUES_MAX));
        assert_eq!(read(&deep, RowLayout::Array).unwrap_err().code, ErrorCode::BodyTooLarge);
        let line = format!("[{}0]\n", "0,".repeat(VALUES_MAX / 2));
        assert_eq!(read(&line.repeat(3), RowLayout::Lines).unwrap_err().code, ErrorCode::BodyTooLarge);
    }
}
