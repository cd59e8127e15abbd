//! The output of commands: text by default, one JSON object with `--json`. Results go to standard output, everything
//! else to standard error.

use std::io::{self, ErrorKind, Write};

use anyhow::Result;
use serde::Serialize;

/// The result of a command: serialised for `--json`, in words otherwise.
pub(crate) trait Answer: Serialize {
    /// The result as text for a person, of one or more lines.
    fn in_words(&self) -> String;
}

/// Prints a result, as JSON or as text.
pub(crate) fn print(answer: &impl Answer, json: bool) -> Result<()> {
    let text = if json { serde_json::to_string(answer)? } else { answer.in_words() };
    print_text(&text)
}

/// Prints text and a line end. A closed pipe, as with `head`, is not an error.
pub(crate) fn print_text(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    match writeln!(out, "{}", text.trim_end()).and_then(|()| out.flush()) {
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Ok(()),
        done => Ok(done?),
    }
}

/// An error and its causes in one line.
pub(crate) fn one_line(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain() {
        let more = cause.to_string();
        // Some libraries repeat the text of their cause.
        if !text.ends_with(&more) {
            text = if text.is_empty() { more } else { format!("{text}: {more}") };
        }
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A table with headings and aligned columns.
pub(crate) fn table(headings: &[&str], rows: &[Vec<String>]) -> String {
    let width = |column: usize| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([headings[column].chars().count()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> = (0..headings.len()).map(width).collect();
    let line = |cells: Vec<&str>| {
        let padded = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        padded.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    let mut lines = vec![line(headings.to_vec())];
    lines.extend(rows.iter().map(|row| line(row.iter().map(String::as_str).collect())));
    lines.join("\n")
}
