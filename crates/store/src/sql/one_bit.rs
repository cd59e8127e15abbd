//! Undoing a flipped bit: if the flip of exactly one bit makes a row match its checksum, the row had that content.

use perigee_core::store::Result;

use crate::{Row, Value};

/// Maximum number of bytes of a row that are searched; each bit of them costs one checksum.
const SEARCHED_MAX: usize = 16 * 1024;
/// The widths in bits in which SQLite stores integers. A flip of the highest stored bit changes the sign.
const STORED_WIDTHS: [u32; 5] = [8, 16, 24, 32, 48];

/// A column and the content that it had.
pub(crate) struct Undone {
    pub(crate) column: String,
    pub(crate) value: Value,
    /// The whole row with this value.
    pub(crate) row: Row,
}

/// Finds the flip of one bit that makes a row match its checksum. `None` if there is none, or if there are several:
/// then the original content is unknown.
pub(crate) fn undo(row: &Row, of_row: fn(&Row) -> Result<i64>) -> Option<Undone> {
    let kept = row.i64("checksum").ok()?;
    let columns: Vec<(String, Value)> =
        row.columns().map(|(name, value)| (name.to_owned(), value.clone())).collect();
    if columns.iter().map(|(_, value)| size(value)).sum::<usize>() > SEARCHED_MAX {
        return None;
    }
    let mut found: Option<Undone> = None;
    for (position, (column, value)) in columns.iter().enumerate() {
        if column == "checksum" {
            continue;
        }
        for flipped in flips(value) {
            let candidate = row.with_value(position, flipped.clone());
            if of_row(&candidate).ok() != Some(kept) {
                continue;
            }
            if found.is_some() {
                return None;
            }
            found = Some(Undone { column: column.clone(), value: flipped, row: candidate });
        }
    }
    // Or a bit of the checksum itself was flipped.
    let expected = of_row(row).ok().map(Value::Int);
    if let Some(value) = expected.filter(|expected| flipped_integers(kept).contains(expected)) {
        let position = columns.iter().position(|(column, _)| column == "checksum")?;
        let of_checksum =
            Undone { column: "checksum".to_owned(), row: row.with_value(position, value.clone()), value };
        return found.is_none().then_some(of_checksum);
    }
    found
}

fn size(value: &Value) -> usize {
    match value {
        Value::Null => 0,
        Value::Int(_) | Value::Real(_) | Value::Bool(_) => 8,
        Value::Text(text) => text.len(),
        Value::Bytes(bytes) => bytes.len(),
    }
}

/// Every value that differs by one bit.
fn flips(value: &Value) -> Vec<Value> {
    match value {
        Value::Null | Value::Real(_) => Vec::new(),
        Value::Bool(truth) => vec![Value::Bool(!truth)],
        Value::Int(number) => flipped_integers(*number),
        Value::Bytes(bytes) => flipped_bytes(bytes).map(Value::Bytes).collect(),
        Value::Text(text) => {
            let valid = flipped_bytes(text.as_bytes()).filter_map(|bytes| String::from_utf8(bytes).ok());
            valid.chain(replaced(text)).map(Value::Text).collect()
        }
    }
}

fn flipped_integers(number: i64) -> Vec<Value> {
    let signs = STORED_WIDTHS.into_iter().filter_map(|width| {
        let unused = 64 - width;
        let fits = (number << unused) >> unused == number;
        fits.then_some(((number ^ (1 << (width - 1))) << unused) >> unused)
    });
    let mut numbers: Vec<i64> = (0..64).map(|bit| number ^ (1 << bit)).chain(signs).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.into_iter().map(Value::Int).collect()
}

fn flipped_bytes(bytes: &[u8]) -> impl Iterator<Item = Vec<u8>> {
    (0..bytes.len() * 8).map(|bit| {
        let mut flipped = bytes.to_vec();
        flipped[bit / 8] ^= 1 << (bit % 8);
        flipped
    })
}

/// A byte that is not UTF-8 was read as U+FFFD: it may have been any character of ASCII.
fn replaced(text: &str) -> Vec<String> {
    let mut matches = text.match_indices(char::REPLACEMENT_CHARACTER);
    let (Some((offset, found)), None) = (matches.next(), matches.next()) else { return Vec::new() };
    let with = |byte: u8| format!("{}{}{}", &text[..offset], char::from(byte), &text[offset + found.len()..]);
    (1..128).map(with).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::params;
    use crate::sql::checksum::{crc, sum, values};

    /// `name`, `data` and `number` are under the CRC-32, `first` and `second` are added.
    fn of_row(row: &Row) -> Result<i64> {
        let crc = crc(&values(row, &["name", "data", "number"])?);
        Ok(crc.wrapping_add(sum(&values(row, &["first", "second"])?)))
    }

    fn row(values: &[Value]) -> Row {
        let columns: Vec<Box<str>> =
            ["name", "data", "number", "first", "second", "checksum"].map(Box::from).to_vec();
        let row = Row::new(Arc::from(columns), [values, params![0]].concat());
        let checksum = of_row(&row).unwrap();
        row.with_value(5, Value::Int(checksum))
    }

    #[test]
    fn every_flip_under_a_crc_is_undone() {
        let sound = row(params!["Bus 7 é", [0_u8, 255].as_slice(), 1_767_225_600_000_i64, 8, None::<i64>]);
        for position in [0, 1, 2] {
            let (name, value) = sound.columns().nth(position).unwrap();
            for flipped in flips(value) {
                let damaged = sound.with_value(position, flipped);
                let undone = undo(&damaged, of_row).expect("it is found");
                assert_eq!((undone.column.as_str(), &undone.row), (name, &sound));
            }
        }
        let damaged = sound.with_value(0, Value::from("B\u{fffd}s 7 é"));
        assert_eq!(undo(&damaged, of_row).map(|undone| undone.row), Some(sound), "not UTF-8");
    }

    /// A flip of the checksum can look like one of a column that is only added: then nothing is undone.
    #[test]
    fn a_flip_of_the_checksum_is_undone_or_left() {
        let sound = row(params!["star", [].as_slice(), 1, 8, None::<i64>]);
        let checksum = sound.columns().nth(5).unwrap().1.clone();
        let undone: Vec<Undone> = flips(&checksum)
            .into_iter()
            .filter_map(|flipped| undo(&sound.with_value(5, flipped), of_row))
            .collect();
        assert!(!undone.is_empty());
        assert!(undone.iter().all(|undone| undone.row == sound));
    }

    #[test]
    fn ambiguous_columns_are_left() {
        let sound = row(params!["star", [].as_slice(), 1, 1_i64 << 20, 1_i64 << 21]);
        let damaged = sound.with_value(3, Value::Int((1 << 20) | (1 << 5)));
        assert!(undo(&damaged, of_row).is_none_or(|undone| undone.row == sound));
        let both = sound.with_value(3, Value::Int(3)).with_value(4, Value::Int(3));
        assert!(undo(&both, of_row).is_none(), "more than one bit");
    }
}
