//! Splits a file with devices into bodies that the server accepts in one request.

use std::path::Path;

use anyhow::{Context, Result, bail};
use perigee_core::devices::new_devices::NEW_DEVICES_MAX;
use serde_json::Value;

/// The most bytes of a part, below the 4 MiB that the server accepts.
const PART_BYTES: usize = 3_500_000;
const TABLE: &str = "text/csv";
const LINES: &str = "application/x-ndjson";

/// A body with some of the devices of a file.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct DevicePart {
    pub(crate) media_type: &'static str,
    pub(crate) body: Vec<u8>,
    /// What to add to the rows that the server names, so that they are those of the file.
    pub(crate) before: u64,
}

/// Reads a file, whose format is that of its extension.
pub(crate) fn device_parts(file: &Path) -> Result<Vec<DevicePart>> {
    let bytes = std::fs::read(file).context("cannot read the file")?;
    let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
    let parts = match extension.to_ascii_lowercase().as_str() {
        "csv" | "tsv" => of_table(&bytes)?,
        "ndjson" | "jsonl" => of_lines(&bytes),
        "json" => of_array(&bytes)?,
        _ => bail!("the extension must be csv, tsv, ndjson, jsonl or json"),
    };
    if parts.is_empty() {
        bail!("the file has no devices");
    }
    Ok(parts)
}

/// Collects rows into parts.
struct Parts {
    media_type: &'static str,
    /// What each part begins with.
    head: Vec<u8>,
    full: Vec<DevicePart>,
    rows: usize,
}

impl Parts {
    fn new(media_type: &'static str, head: &[u8]) -> Self {
        Self { media_type, head: head.to_vec(), full: Vec::new(), rows: 0 }
    }

    /// Adds a row. A part that begins with it is `before` rows into the file.
    fn push(&mut self, row: &[u8], before: u64) {
        let is_full = self.rows >= NEW_DEVICES_MAX
            || self.full.last().is_none_or(|part| part.body.len() + row.len() >= PART_BYTES);
        if is_full {
            self.full.push(DevicePart { media_type: self.media_type, body: self.head.clone(), before });
            self.rows = 0;
        }
        self.rows += 1;
        if let Some(part) = self.full.last_mut() {
            part.body.extend_from_slice(row);
            if !row.ends_with(b"\n") {
                part.body.push(b'\n');
            }
        }
    }
}

/// The header line is repeated in each part.
fn of_table(bytes: &[u8]) -> Result<Vec<DevicePart>> {
    let delimiter = super::csv::delimiter(bytes);
    let mut reader =
        csv::ReaderBuilder::new().delimiter(delimiter).has_headers(false).flexible(true).from_reader(bytes);
    let mut record = csv::ByteRecord::new();
    let mut parts: Option<(Parts, u64)> = None;
    let (mut begin, mut lines) = (0_usize, 0_u64);
    while reader.read_byte_record(&mut record).context("cannot read the table")? {
        let mut end = usize::try_from(reader.position().byte()).unwrap_or(bytes.len()).min(bytes.len());
        // The reader stops between the two bytes of a line break.
        if bytes.get(..end).is_some_and(|row| row.ends_with(b"\r")) && bytes.get(end) == Some(&b'\n') {
            end += 1;
        }
        let row = bytes.get(begin..end).unwrap_or_default();
        match &mut parts {
            None => {
                let head = [row.trim_ascii_end(), b"\n"].concat();
                parts = Some((Parts::new(TABLE, &head), count_lines(&head)));
            }
            Some((parts, head)) => parts.push(row, lines.saturating_sub(*head)),
        }
        lines += count_lines(row);
        begin = end;
    }
    Ok(parts.map(|(parts, _)| parts.full).unwrap_or_default())
}

fn of_lines(bytes: &[u8]) -> Vec<DevicePart> {
    let mut parts = Parts::new(LINES, b"");
    for (before, line) in (0..).zip(bytes.split_inclusive(|byte| *byte == b'\n')) {
        parts.push(line, before);
    }
    parts.full
}

/// Each device of the array becomes a line.
fn of_array(bytes: &[u8]) -> Result<Vec<DevicePart>> {
    let mut document: Value = serde_json::from_slice(bytes).context("the file is not JSON")?;
    if let Some(devices) = document.get_mut("devices") {
        document = devices.take();
    }
    let Value::Array(devices) = document else {
        bail!("the file must have an array of devices, or an object with \"devices\"");
    };
    let mut parts = Parts::new(LINES, b"");
    for (before, device) in (0..).zip(devices) {
        parts.push(&serde_json::to_vec(&device)?, before);
    }
    Ok(parts.full)
}

fn count_lines(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte == b'\n').count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(part: &DevicePart) -> &str {
        std::str::from_utf8(&part.body).unwrap()
    }

    #[test]
    fn a_table_is_split_between_rows() {
        let mut table = "name;description\r\n".to_owned();
        table += &"a;\"two\nlines\"\r\n".repeat(NEW_DEVICES_MAX);
        table += "last;";
        let parts = of_table(table.as_bytes()).unwrap();
        assert_eq!(parts.len(), 2);
        assert_eq!(text(&parts[1]), "name;description\nlast;\n");
        // The last row is line 2 of its part.
        assert_eq!(parts[1].before + 2, 1 + 2 * NEW_DEVICES_MAX as u64 + 1);
        assert!(text(&parts[0]).starts_with("name;description\na;\"two\nlines\"\r\na;"));
        assert_eq!(parts[0].before, 0);
    }

    #[test]
    fn arrays_become_lines() {
        let parts = of_array(br#"{"devices": [{"name": "a"}, {"name": "b"}]}"#).unwrap();
        assert_eq!((parts.len(), text(&parts[0])), (1, "{\"name\":\"a\"}\n{\"name\":\"b\"}\n"));
        assert!(of_array(b"{}").is_err());
        let many = format!("[{}5]", "5,".repeat(NEW_DEVICES_MAX));
        let parts = of_array(many.as_bytes()).unwrap();
        assert_eq!((parts.len(), parts[1].before), (2, NEW_DEVICES_MAX as u64));
    }

    #[test]
    fn large_rows_make_small_parts() {
        let row = format!("\"{}\"\n", "x".repeat(PART_BYTES / 2));
        let parts = of_lines(row.repeat(3).as_bytes());
        assert_eq!(parts.iter().map(|part| part.before).collect::<Vec<_>>(), [0, 1, 2]);
    }
}
