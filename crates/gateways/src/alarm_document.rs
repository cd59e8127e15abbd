//! The documentation page of alarm codes, generated from the tables that decoders use.

use std::fmt::Write as _;

use perigee_core::alerts::alert::Alert;
use perigee_core::alerts::severity::Severity;
use perigee_core::time::Timestamp;
use serde_json::Value as Json;

use crate::alarm::{AlarmCode, AlarmTable, Notation, Raises, WORDS};
use crate::feed::{FEEDS, Feed, SosStep};
use crate::feeds::mapped::preset;
use crate::location::alert_name;
use crate::protocol::PROTOCOLS;

const HEAD: &str = "\
# Alarm codes

Alarm codes of each protocol and feed, and the alerts that they raise. This page is made from the tables that the decoders use:
change those, then run `UPDATE_DOCS=1 cargo test -p perigee-gateways --all-features --test golden alarm_document`.

A row with models applies to these models; a row without models applies to all others. `SOSButton` is critical. The steps of an
emergency of satellite feeds and phones are one alert `SOSButton` with a beginning and an end. Codes that are not listed raise no
alert and are stored as readings. [Rules](../api/rules.md) can raise further alerts.
";

/// The page, in Markdown.
pub fn alarm_document() -> String {
    let mut page = HEAD.to_owned();
    page.push_str("\n## Protocols\n");
    for protocol in PROTOCOLS {
        section(&mut page, protocol.name, protocol.makers, protocol.alarms, &[]);
    }
    page.push_str("\n## Words\n\nAlarm words of phones, mappings and templates.\n");
    write_codes(&mut page, &WORDS);
    page.push_str("\n## Feeds\n");
    for feed in FEEDS {
        section(&mut page, feed.name, feed.title, feed.alarms, &preset_rows(feed));
    }
    page
}

fn section(page: &mut String, name: &str, title: &str, tables: &[AlarmTable], preset: &[Row]) {
    // Writing to a `String` never fails.
    let _ = writeln!(page, "\n### {name}\n\n{title}.");
    if tables.is_empty() && preset.is_empty() {
        page.push_str("\nThis protocol or feed has no alarm codes: the device's settings define its events. Use a rule.\n");
    }
    for table in tables {
        if table.field == WORDS.field {
            page.push_str("\nThe [words](#words), if messages, a mapping or a template contain them.\n");
        } else {
            write_codes(page, table);
        }
    }
    if !preset.is_empty() {
        write_table(page, "in the mapping of the preset", preset);
    }
}

fn write_codes(page: &mut String, table: &AlarmTable) {
    let rows: Vec<Row> = table.codes.iter().map(|code| row(table.notation, code)).collect();
    write_table(page, table.field, &rows);
}

struct Row {
    code: String,
    models: String,
    alert: String,
    severity: &'static str,
}

fn write_table(page: &mut String, field: &str, rows: &[Row]) {
    let has_models = rows.iter().any(|row| !row.models.is_empty());
    let (head, line) = if has_models { (" models |", "---|") } else { ("", "") };
    let _ = writeln!(page, "\n| {field} |{head} raises | severity |\n|---|{line}---|---|");
    for Row { code, models, alert, severity } in rows {
        let models = if has_models { format!(" {models} |") } else { String::new() };
        let _ = writeln!(page, "| {code} |{models} {alert} | {severity} |");
    }
}

fn row(notation: Notation, code: &AlarmCode) -> Row {
    let shown = match notation {
        Notation::Decimal => code.number.to_string(),
        Notation::Hexadecimal => format!("`{:02X}`", code.number),
        Notation::Bit => format!("bit {}", code.number),
        Notation::Text => format!("`{}`", code.text),
    };
    let (alert, severity) = match code.raises {
        Raises::Alarm(word) => alarm(word),
        Raises::Sos(step) => emergency(step),
    };
    Row { code: shown, models: code.models.to_owned(), alert, severity }
}

/// The alert of an alarm name, and its severity.
fn alarm(word: &str) -> (String, &'static str) {
    if word == "sosCancel" {
        return emergency(SosStep::Cancel);
    }
    let name = alert_name(word);
    let alert = Alert {
        time: Timestamp::MIN,
        name: name.clone(),
        text: None,
        position: None,
        critical: false,
        attributes: std::collections::BTreeMap::new(),
    };
    (format!("`{name}`"), Severity::of(&alert).name())
}

fn emergency(step: SosStep) -> (String, &'static str) {
    let text = match step {
        SosStep::Declare => "`SOSButton`",
        SosStep::Confirm | SosStep::Repeat => "`SOSButton`, or its continuation",
        SosStep::Cancel => "the end of `SOSButton`",
    };
    (text.to_owned(), if step == SosStep::Cancel { "" } else { Severity::Critical.name() })
}

/// The codes in the mapping of a preset.
fn preset_rows(feed: &Feed) -> Vec<Row> {
    let Some(mapping) = preset(feed.name) else { return Vec::new() };
    let list = |value: Option<&Json>| value.and_then(Json::as_array).cloned().unwrap_or_default();
    let text =
        |value: &Json, name: &str| value.get(name).and_then(Json::as_str).unwrap_or_default().to_owned();
    let mut rows = Vec::new();
    for step in list(mapping.get("sos")) {
        let (alert, severity) = emergency(match text(&step, "step").as_str() {
            "declare" => SosStep::Declare,
            "confirm" => SosStep::Confirm,
            "repeat" => SosStep::Repeat,
            _ => SosStep::Cancel,
        });
        rows.push(Row { code: condition(step.get("when")), models: String::new(), alert, severity });
    }
    for source in list(mapping.pointer("/fields/alarm")) {
        let (alert, severity) = alarm(&text(&source, "value"));
        rows.push(Row { code: condition(source.get("when")), models: String::new(), alert, severity });
    }
    rows
}

/// A condition of a mapping: its path and the values that it compares with.
fn condition(when: Option<&Json>) -> String {
    let path = when.and_then(|when| when.get("path")).and_then(Json::as_str).unwrap_or_default();
    let values = match when.and_then(|when| when.get("in")) {
        Some(Json::Array(values)) => values.clone(),
        _ => when.and_then(|when| when.get("equals")).into_iter().cloned().collect(),
    };
    let values: Vec<String> = values
        .iter()
        .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        .map(|value| format!("`{value}`"))
        .collect();
    format!("`{path}` {}", values.join(", "))
}
