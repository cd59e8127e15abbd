//! NDJSON: each line is passed on unchanged, because the server checks it.

use std::io::BufRead;

use anyhow::{Context, Result};

use super::item::{Item, Sink};

/// The longest line that can be a location.
const LINE_MAX: usize = 1024 * 1024;

pub(super) fn read(mut input: impl BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mut number = 0;
    let mut line = Vec::new();
    loop {
        line.clear();
        let is_whole = read_line(&mut input, &mut line).context("cannot read the file")?;
        let Some(is_whole) = is_whole else { return Ok(()) };
        number += 1;
        let text = line.trim_ascii();
        if text.is_empty() && is_whole {
            continue;
        }
        let body = if is_whole {
            Ok(text.to_vec())
        } else {
            Err(format!("the line is longer than {LINE_MAX} bytes"))
        };
        sink(Item { number, body })?;
    }
}

/// Reads one line. `Some(false)` if it was too long and skipped, `None` at the end of the file.
fn read_line(input: &mut impl BufRead, line: &mut Vec<u8>) -> std::io::Result<Option<bool>> {
    let (mut has_read, mut is_whole) = (false, true);
    loop {
        let available = input.fill_buf()?;
        if available.is_empty() {
            return Ok(has_read.then_some(is_whole));
        }
        has_read = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = &available[..end.unwrap_or(available.len())];
        if line.len() + part.len() > LINE_MAX {
            is_whole = false;
        } else {
            line.extend_from_slice(part);
        }
        let consumed = part.len() + usize::from(end.is_some());
        input.consume(consumed);
        if end.is_some() {
            return Ok(Some(is_whole));
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::item::testing::items;
    use super::*;
    use crate::args::FileFormat;

    #[test]
    fn lines_are_passed_on() {
        let found = items(FileFormat::Ndjson, "{\"a\":1}\r\n\n  {\"a\":2}");
        assert_eq!(found, [(1, Ok(json!({"a": 1}))), (3, Ok(json!({"a": 2})))]);
    }

    #[test]
    fn an_endless_line_is_refused_without_being_kept() {
        let text = format!("{}\n{{}}\n", "x".repeat(LINE_MAX * 2));
        let found = items(FileFormat::Ndjson, &text);
        assert!(found[0].1.is_err());
        assert_eq!(found[1], (2, Ok(json!({}))));
    }
}
