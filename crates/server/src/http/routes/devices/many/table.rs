//! Devices as CSV: the first line names the members, and each further line is a device.

use serde_json::{Map, json};

use super::rows::{Row, refused, require_room, require_values};
use crate::http::prelude::*;

/// What the cells of a column become.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Column {
    /// A member that is a text.
    Text(&'static str),
    /// A member that is a whole number.
    Number(&'static str),
    /// A member of `limits` that is a text.
    Limit(&'static str),
    /// A member of `limits` that is a whole number.
    LimitNumber(&'static str),
    /// Groups, separated by `|`.
    Groups,
    /// Further identifiers, separated by `|`.
    Identifiers,
    /// A tag with this key.
    Tag(String),
}

/// The names of the columns, besides `tags.KEY`.
const COLUMNS: [(&str, Column); 14] = [
    ("identifier", Column::Text("identifier")),
    ("identifiers", Column::Identifiers),
    ("name", Column::Text("name")),
    ("description", Column::Text("description")),
    ("min", Column::Text("min")),
    ("icon", Column::Text("icon")),
    ("model", Column::Text("model")),
    ("groups", Column::Groups),
    ("expirationDate", Column::Limit("expirationDate")),
    ("dailyEmailLimit", Column::LimitNumber("dailyEmailLimit")),
    ("dailySmsLimit", Column::LimitNumber("dailySmsLimit")),
    ("criticalReserve", Column::LimitNumber("criticalReserve")),
    ("expectedIntervalSeconds", Column::Number("expectedIntervalSeconds")),
    ("retentionDays", Column::Number("retentionDays")),
];

/// The beginning of the name of a column of tags.
const TAG: &str = "tags.";
/// Maximum number of columns.
const COLUMNS_MAX: usize = 100;

/// Reads a table. Cells that are empty are as if the member was left out.
pub(super) fn read_table(bytes: &[u8]) -> ApiResult<Vec<Row>> {
    let text = std::str::from_utf8(bytes).map_err(|error| {
        refused(format!("The body is not UTF-8 text: byte {} is wrong. Send UTF-8.", error.valid_up_to()))
    })?;
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let delimiter = delimiter(text);
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(text.as_bytes());
    let headings = reader.headers().map_err(|error| refused(unreadable(&error)))?;
    let columns = columns(headings)?;
    let (mut rows, mut values) = (Vec::new(), 0);
    let mut record = csv::StringRecord::new();
    loop {
        match reader.read_record(&mut record) {
            Ok(false) => return Ok(rows),
            Ok(true) => {}
            Err(error) => return Err(refused(unreadable(&error))),
        }
        if record.iter().all(|cell| cell.trim().is_empty()) {
            continue;
        }
        require_room(rows.len() + 1)?;
        let value = read_record(&record, &columns, &mut values);
        require_values(values)?;
        let line = record.position().map(|start| start.line() + breaks_at(text, start.byte()));
        rows.push(Row { line, value });
    }
}

/// The line breaks at a position. The reader leaves those before a record to it.
fn breaks_at(text: &str, position: u64) -> u64 {
    let rest = usize::try_from(position).ok().and_then(|position| text.as_bytes().get(position..));
    let breaks = rest.unwrap_or_default().iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    breaks.filter(|byte| **byte == b'\n').map(|_| 1).sum()
}

fn unreadable(error: &csv::Error) -> String {
    match error.position() {
        Some(position) => format!("Line {} of the table cannot be read. Check its quotes.", position.line()),
        None => "The table cannot be read. Check its quotes.".to_owned(),
    }
}

/// The separator: the most frequent candidate in the first line.
fn delimiter(text: &str) -> u8 {
    let line = text.lines().next().unwrap_or_default().as_bytes();
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}

fn columns(headings: &csv::StringRecord) -> ApiResult<Vec<Column>> {
    if headings.is_empty() {
        return Err(refused("The table is empty. Its first line must name the columns.".to_owned()));
    }
    if headings.len() > COLUMNS_MAX {
        return Err(refused(format!("The table has more than {COLUMNS_MAX} columns. Leave some out.")));
    }
    let mut columns: Vec<Column> = Vec::with_capacity(headings.len());
    let mut problems = Vec::new();
    for heading in headings.iter().map(str::trim) {
        let known = COLUMNS.iter().find(|(name, _)| name.eq_ignore_ascii_case(heading));
        let tag = heading
            .split_at_checked(TAG.len())
            .filter(|(start, key)| start.eq_ignore_ascii_case(TAG) && !key.is_empty());
        let column = match (known, tag) {
            (Some((_, column)), _) => column.clone(),
            (None, Some((_, key))) => Column::Tag(key.to_owned()),
            (None, None) => {
                let names: Vec<&str> = COLUMNS.iter().map(|(name, _)| *name).collect();
                let detail = format!(
                    "Unknown column {:?}. The first line must name the columns, which may be {} and tags.KEY.",
                    heading.chars().take(60).collect::<String>(),
                    names.join(", ")
                );
                problems.push(Problem { pointer: Pointer::root(), detail });
                continue;
            }
        };
        if columns.contains(&column) {
            let detail = format!("The table has the column {heading:?} twice. Leave one out.");
            problems.push(Problem { pointer: Pointer::root(), detail });
        }
        columns.push(column);
    }
    if problems.is_empty() { Ok(columns) } else { Err(invalid_body(problems)) }
}

/// The device of a record. `values` counts the JSON values that are made.
fn read_record(record: &csv::StringRecord, columns: &[Column], values: &mut usize) -> Result<Value, Problem> {
    if record.iter().skip(columns.len()).any(|cell| !cell.trim().is_empty()) {
        let detail = format!("The row has more cells than the first line has columns, {}.", columns.len());
        return Err(Problem { pointer: Pointer::root(), detail });
    }
    let (mut device, mut limits, mut tags) = (Map::new(), Map::new(), Map::new());
    for (cell, column) in record.iter().zip(columns) {
        let cell = cell.trim();
        if cell.is_empty() {
            continue;
        }
        *values += 1;
        let mut parts = || -> Vec<&str> {
            let parts: Vec<&str> = cell.split('|').map(str::trim).filter(|part| !part.is_empty()).collect();
            *values += 2 * parts.len();
            parts
        };
        match column {
            Column::Text(name) => drop(device.insert((*name).to_owned(), cell.into())),
            Column::Number(name) => drop(device.insert((*name).to_owned(), number(cell))),
            Column::Limit(name) => drop(limits.insert((*name).to_owned(), cell.into())),
            Column::LimitNumber(name) => drop(limits.insert((*name).to_owned(), number(cell))),
            Column::Groups => drop(device.insert("groups".to_owned(), json!(parts()))),
            Column::Identifiers => {
                let named: Vec<Value> = parts().into_iter().map(|part| json!({"identifier": part})).collect();
                device.insert("identifiers".to_owned(), named.into());
            }
            Column::Tag(key) => drop(tags.insert(key.clone(), cell.into())),
        }
    }
    for (name, members) in [("limits", limits), ("tags", tags)] {
        if !members.is_empty() {
            device.insert(name.to_owned(), members.into());
        }
    }
    Ok(device.into())
}

/// A number, or the text as it is, which is then refused as text.
fn number(cell: &str) -> Value {
    cell.parse::<i64>().map_or_else(|_other| cell.into(), Value::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Vec<(Option<u64>, Value)> {
        let rows = read_table(text.as_bytes()).unwrap();
        rows.into_iter().map(|row| (row.line, row.value.unwrap())).collect()
    }

    #[test]
    fn cells_become_members() {
        let text = "\u{feff}Identifier;NAME;groups;tags.colour;expirationDate;dailySmsLimit;retentionDays;identifiers\r\n\
                    0012;\"Two\nlines\";Boats| North ;red;2026-12-31;5;x;a|b\r\n\
                    ;;;;;;;\r\n\
                    7;Bare;;;;;;\r\n";
        let rows = read(text);
        assert_eq!(
            rows[0].1,
            json!({
                "identifier": "0012", "name": "Two\nlines", "groups": ["Boats", "North"], "tags": {"colour": "red"},
                "limits": {"expirationDate": "2026-12-31", "dailySmsLimit": 5}, "retentionDays": "x",
                "identifiers": [{"identifier": "a"}, {"identifier": "b"}]
            })
        );
        assert_eq!(rows[1].1, json!({"identifier": "7", "name": "Bare"}));
        assert_eq!((rows[0].0, rows[1].0), (Some(2), Some(5)));
    }

    #[test]
    fn the_separator_is_found() {
        for text in ["name,min\na,1\n", "name;min\na;1\n", "name\tmin\na\t1\n"] {
            assert_eq!(read(text)[0].1, json!({"name": "a", "min": "1"}), "{text}");
        }
    }

    #[test]
    fn wrong_tables_are_refused() {
        let check = |text: &str, expect: &str| {
            let error = read_table(text.as_bytes()).unwrap_err();
            assert!(error.message.contains(expect), "{text}: {}", error.message);
        };
        check("name,colour\na,b\n", "Unknown column \"colour\"");
        check("name,Name\na,b\n", "twice");
        check(&format!("name{}\n", ",min".repeat(100)), "100 columns");
        assert!(read_table(b"name\n\xff\n").unwrap_err().message.contains("UTF-8"));
        assert!(read_table(b"").is_err());
        let rows = read_table(b"name\na,b\n").unwrap();
        assert!(rows[0].value.as_ref().unwrap_err().detail.contains("more cells"));
    }
}
