//! CSV and TSV with a header line; unknown columns become attributes.

use std::io::BufRead;

use anyhow::{Context, Result, bail};
use csv::{ByteRecord, ReaderBuilder};

use super::column::Column;
use super::draft::Draft;
use super::item::{Item, Sink};

pub(super) fn read(mut input: impl BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let delimiter = delimiter(input.fill_buf().context("cannot read the file")?);
    let mut reader = ReaderBuilder::new().delimiter(delimiter).flexible(true).from_reader(input);
    let headings = reader.byte_headers().context("cannot read the headings")?;
    let columns: Vec<Column> =
        headings.iter().map(|heading| Column::named(&String::from_utf8_lossy(heading))).collect();
    for (needed, name) in [
        (Column::Time, "dateTime"),
        (Column::Number("latitude"), "latitude"),
        (Column::Number("longitude"), "longitude"),
    ] {
        if !columns.contains(&needed) {
            bail!("the first line has no column \"{name}\"; it must contain the column names");
        }
    }
    let mut record = ByteRecord::new();
    while reader.read_byte_record(&mut record).context("cannot read the table")? {
        let number = record.position().map_or(0, csv::Position::line);
        sink(Item { number, body: read_record(&record, &columns) })?;
    }
    Ok(())
}

/// The separator: the most frequent candidate in the first line.
pub(super) fn delimiter(beginning: &[u8]) -> u8 {
    let line = beginning.split(|byte| *byte == b'\n').next().unwrap_or_default();
    let count = |delimiter: u8| line.iter().filter(|byte| **byte == delimiter).count();
    [b',', b';', b'\t'].into_iter().rev().max_by_key(|delimiter| count(*delimiter)).unwrap_or(b',')
}

fn read_record(record: &ByteRecord, columns: &[Column]) -> Result<Vec<u8>, String> {
    let mut draft = Draft::default();
    for (bytes, column) in record.iter().zip(columns) {
        let text = std::str::from_utf8(bytes).map_err(|_invalid| "it is not UTF-8".to_owned())?.trim();
        if !text.is_empty() {
            column.add(text, &mut draft)?;
        }
    }
    draft.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::item::testing::items;
    use super::*;
    use crate::args::FileFormat;

    #[test]
    fn columns_are_found_by_their_headings() {
        let text = "\u{feff}Device;Time;LAT;lon;Speed_kn;ignition;alerts;Cargo;hatch\n\
                    x;2026-05-01 12:00:00;42.2406;-8.7207;10;1;SOS;fish;3\n\
                    x;;42;-8;;;;;\n";
        let found = items(FileFormat::Csv, text);
        assert_eq!(
            found[0],
            (
                2,
                Ok(json!({"dateTime": "2026-05-01T12:00:00Z", "latitude": 42.2406, "longitude": -8.7207,
                    "speed": 18.52, "ignition": true, "alerts": ["SOS"], "Cargo": "fish", "hatch": 3}))
            )
        );
        assert_eq!(found[1], (3, Err("it has no time".to_owned())));
    }

    #[test]
    fn a_table_without_headings_is_refused() {
        let error = read("1,2,3\n4,5,6\n".as_bytes(), &mut |_item| Ok(())).unwrap_err();
        assert!(error.to_string().contains("\"dateTime\""), "{error}");
    }
}
