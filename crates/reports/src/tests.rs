//! Documents of made-up rows, read back.

use std::io::{Cursor, Read as _};

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::locations::location::{Latitude, Longitude, Milli};
use perigee_core::notifications::routing::Units;
use perigee_core::time::Timestamp;
use proptest::prelude::*;
use quick_xml::events::Event;
use serde_json::{Value, json};

use crate::{Cell, Column, Format, Grouping, Heading, ReportKind, Row, Subject};

const COLUMNS: [Column; 7] = [
    Column::Device,
    Column::Date,
    Column::From,
    Column::Duration,
    Column::Distance,
    Column::MaxSpeed,
    Column::Note,
];

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn heading(language: ConsoleLanguage, units: Units) -> Heading {
    Heading {
        kind: ReportKind::Trips,
        title: "Week".to_owned(),
        account: "Acme".to_owned(),
        from: at("2026-03-22T23:00:00Z"),
        to: at("2026-03-29T22:00:00Z"),
        created: at("2026-04-01T08:00:00Z"),
        zone: "Europe/Madrid".parse().unwrap(),
        language,
        units,
        columns: COLUMNS.to_vec(),
        envelope: b"\"success\":true".to_vec(),
    }
}

pub(crate) fn row(device: &str, from: &str, metres: u64, note: &str) -> Row {
    let cells = vec![
        Cell::Text(device.to_owned()),
        Cell::Instant(at(from)),
        Cell::Instant(at(from)),
        Cell::Duration(90_061),
        Cell::Distance(metres),
        Cell::Speed(Milli::from_thousandths(90_500)),
        Cell::Text(note.to_owned()),
    ];
    let degrees = |number: u32| {
        (Latitude::from_degrees(40.0 + f64::from(number)).unwrap(), Longitude::from_degrees(-8.0).unwrap())
    };
    Row {
        subject: Subject { id: format!("dev_{device}"), name: device.to_owned() },
        cells,
        leg: Some((degrees(0), degrees(1))),
    }
}

/// The clock of Madrid goes forward at 01:00 UTC on 29 March.
fn rows() -> Vec<Row> {
    vec![
        row("Van 1", "2026-03-28T23:30:00Z", 43_215, "=HYPERLINK(\"http://evil\",\"x\")"),
        row("Van 1", "2026-03-29T01:30:00Z", 10_000, "two\nlines, and \"quotes\""),
        row("Van 2", "2026-03-23T07:00:00Z", 1_609, "@sum"),
    ]
}

fn document(format: Format, heading: Heading, rows: &[Row]) -> Vec<u8> {
    let mut writer = format.open(heading).unwrap();
    let mut bytes = Vec::new();
    for batch in rows.chunks(2) {
        writer.add(batch).unwrap();
        bytes.extend(writer.take());
    }
    writer.finish(&mut bytes).unwrap();
    bytes
}

pub(crate) fn english() -> Heading {
    heading(ConsoleLanguage::English, Units::Metric)
}

#[test]
fn csv_has_titles_local_times_and_no_formulas() {
    let bytes = document(Format::Csv, english(), &rows());
    let mut reader = csv::ReaderBuilder::new().from_reader(bytes.as_slice());
    let titles: Vec<String> = reader.headers().unwrap().iter().map(str::to_owned).collect();
    assert_eq!(titles, ["Device", "Date", "From", "Duration", "Distance (km)", "Top speed (km/h)", "Note"]);
    let lines: Vec<Vec<String>> =
        reader.records().map(|line| line.unwrap().iter().map(str::to_owned).collect()).collect();
    assert_eq!(lines[0][..4], ["Van 1", "2026-03-29", "2026-03-29T00:30:00+01:00", "25:01:01"]);
    assert_eq!(lines[0][4..], ["43.215", "90.5", "'=HYPERLINK(\"http://evil\",\"x\")"]);
    assert_eq!(
        (lines[1][2].as_str(), lines[1][6].as_str()),
        ("2026-03-29T03:30:00+02:00", "two\nlines, and \"quotes\"")
    );
    assert_eq!(lines[2][6], "'@sum");
    for text in ["=1", "+1", "-1", "@a", "\t=1", "\r=1", "＝1"] {
        let bytes = document(Format::Csv, english(), &[row(text, "2026-03-23T07:00:00Z", 0, "")]);
        let line = String::from_utf8(bytes).unwrap();
        let cell = line.split("\r\n").nth(1).unwrap().trim_start_matches('"');
        assert!(cell.starts_with('\''), "{text:?}: {line}");
    }
}

#[test]
fn json_has_rows_and_the_totals_of_each_device() {
    let answer: Value = serde_json::from_slice(&document(Format::Json, english(), &rows())).unwrap();
    assert_eq!(
        (&answer["success"], &answer["kind"], &answer["timeZone"], &answer["title"]),
        (&json!(true), &json!("trips"), &json!("Europe/Madrid"), &json!("Week"))
    );
    assert_eq!(
        answer["columns"][4],
        json!({"id": "distance", "title": "Distance", "type": "distance", "unit": "km"})
    );
    assert_eq!(
        answer["rows"][0],
        json!({
            "device": "Van 1", "date": "2026-03-29", "from": "2026-03-28T23:30:00Z", "duration": 90_061,
            "distance": 43.215, "maxSpeed": 90.5, "note": "=HYPERLINK(\"http://evil\",\"x\")",
        })
    );
    assert_eq!(
        answer["totals"],
        json!([
            {"id": "dev_Van 1", "name": "Van 1", "rows": 2, "duration": 180_122, "distance": 53.215, "maxSpeed": 90.5},
            {"id": "dev_Van 2", "name": "Van 2", "rows": 1, "duration": 90_061, "distance": 1.609, "maxSpeed": 90.5},
            {"id": null, "name": null, "rows": 3, "duration": 270_183, "distance": 54.824, "maxSpeed": 90.5},
        ])
    );
    let lines = document(Format::NdJson, english(), &rows());
    let lines: Vec<Value> =
        serde_json::Deserializer::from_slice(&lines).into_iter().map(Result::unwrap).collect();
    assert_eq!(Value::from(lines), answer["rows"]);
}

#[test]
fn units_and_language_are_those_of_the_reader() {
    let bytes = document(Format::Csv, heading(ConsoleLanguage::Spanish, Units::Nautical), &rows());
    let text = String::from_utf8(bytes).unwrap();
    assert!(
        text.starts_with("Dispositivo,Fecha,Desde,Duración,Distancia (nmi),Velocidad máxima (kn),Nota\r\n"),
        "{text}"
    );
    assert!(text.contains(",23.334,48.866,"), "{text}");
    let bytes = document(Format::Csv, heading(ConsoleLanguage::English, Units::Imperial), &rows());
    assert!(String::from_utf8(bytes).unwrap().contains("Distance (mi),Top speed (mph)"));
    for column in Column::ALL {
        for language in ConsoleLanguage::ALL {
            assert!(!column.title(language).is_empty());
        }
    }
}

/// The text of a part of a workbook.
fn part(workbook: &[u8], name: &str) -> String {
    let mut archive = zip::ZipArchive::new(Cursor::new(workbook)).unwrap();
    let mut text = String::new();
    archive.by_name(name).unwrap().read_to_string(&mut text).unwrap();
    text
}

/// The cells of a sheet as reference, type and text; formulas have the type "f".
fn cells(sheet: &str) -> Vec<(String, String, String)> {
    let mut reader = quick_xml::Reader::from_str(sheet);
    let (mut found, mut kind, mut reference) = (Vec::new(), String::new(), String::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Start(tag) if tag.name().as_ref() == "c" => {
                let attribute = |name: &str| {
                    let value = tag.try_get_attribute(name).unwrap();
                    value.map(|value| value.value.into_owned()).unwrap_or_default()
                };
                (reference, kind) = (attribute("r"), attribute("t"));
            }
            Event::Start(tag) if tag.name().as_ref() == "f" => kind = "f".to_owned(),
            Event::Text(text) if !reference.is_empty() => {
                let text = text.to_string();
                found.push((reference.clone(), kind.clone(), text));
            }
            Event::GeneralRef(_) => found.last_mut().into_iter().for_each(|cell| cell.2.push('&')),
            Event::End(tag) if tag.name().as_ref() == "c" => reference.clear(),
            Event::Eof => return found,
            _ => {}
        }
    }
}

fn cell(sheet: &str, reference: &str) -> (String, String) {
    let found = cells(sheet).into_iter().find(|(at, ..)| at == reference);
    found.map(|(_, kind, text)| (kind, text)).unwrap_or_default()
}

#[test]
fn xlsx_has_numbers_dates_and_durations_and_no_formulas() {
    let workbook = document(Format::Xlsx, english(), &rows());
    let sheet = part(&workbook, "xl/worksheets/sheet1.xml");
    let number = |reference: &str| {
        let (kind, text) = cell(&sheet, reference);
        assert!(kind.is_empty() || kind == "n", "{reference} is a number: {kind}");
        text.parse::<f64>().unwrap()
    };
    // 29 March 2026 is day 46110 of spreadsheet programs.
    assert!((46_110.0..46_111.0).contains(&number("B2")), "a date of the zone");
    assert!((number("C2") - (46_110.0 + 0.5 / 24.0)).abs() < 1e-9);
    assert!((number("D2") - 90_061.0 / 86_400.0).abs() < 1e-9);
    assert_eq!((number("E2"), number("F2")), (43.215, 90.5));
    let (kind, text) = cell(&sheet, "G2");
    assert_eq!(kind, "inlineStr");
    assert!(text.starts_with("=HYPERLINK("), "{text}");
    assert!(!sheet.contains("<f>") && sheet.contains("state=\"frozen\""), "{sheet}");
    let styles = part(&workbook, "xl/styles.xml");
    assert!(styles.contains("[h]:mm:ss") && styles.contains("yyyy-mm-dd"), "{styles}");
    let totals = part(&workbook, "xl/worksheets/sheet2.xml");
    let texts: Vec<String> = cells(&totals).into_iter().map(|(.., text)| text).collect();
    for expect in ["Week", "Acme", "2026-03-23 00:00 – 2026-03-30 00:00", "Van 1", "Total", "54.824"] {
        assert!(texts.iter().any(|text| text == expect), "{expect}: {texts:?}");
    }
}

#[test]
fn an_empty_report_is_a_document() {
    for format in Format::ALL {
        let bytes = document(format, english(), &[]);
        assert_eq!(bytes.is_empty(), format == Format::NdJson, "{}", format.name());
    }
    let answer: Value = serde_json::from_slice(&document(Format::Json, english(), &[])).unwrap();
    assert_eq!((&answer["rows"], answer["totals"].as_array().unwrap().len()), (&json!([]), 1));
}

#[test]
fn a_workbook_refuses_more_rows_than_it_may_have() {
    let mut writer = Format::Xlsx.open(english()).unwrap();
    let rows = vec![row("Van", "2026-03-23T07:00:00Z", 1, ""); 50_000];
    for _ in 0..5 {
        writer.add(&rows).unwrap();
    }
    let refused = writer.add(&rows[..1]).unwrap_err();
    assert_eq!(refused.to_string(), "the report has more than 250000 rows");
}

#[test]
fn usual_columns_are_columns_of_their_kind() {
    for kind in ReportKind::ALL {
        for grouping in Grouping::ALL.into_iter().filter(|by| kind.is_totals() || *by == Grouping::Device) {
            let usual = kind.usual_columns(grouping);
            assert!(usual.iter().all(|column| kind.columns().contains(column)), "{}", kind.name());
        }
    }
}

proptest! {
    #[test]
    fn any_text_is_kept(text in "\\PC{0,40}") {
        let all = [row("Van", "2026-03-23T07:00:00Z", 1, &text)];
        let bytes = document(Format::Csv, english(), &all);
        let mut reader = csv::ReaderBuilder::new().from_reader(bytes.as_slice());
        let line = reader.records().next().unwrap().unwrap();
        let read = &line[6];
        prop_assert!(read == text || read == format!("'{text}"), "{read:?}");
        let answer: Value = serde_json::from_slice(&document(Format::Json, english(), &all)).unwrap();
        prop_assert_eq!(answer["rows"][0]["note"].as_str().unwrap(), text);
    }
}

/// Peak memory of the process, in KiB.
fn peak_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
#[ignore = "a measurement: run it alone, in a release build"]
fn a_hundred_thousand_rows_as_a_workbook() {
    let usual = ReportKind::Trips.usual_columns(Grouping::Device);
    let cells = |number: u64| -> Vec<Cell> {
        let start = at("2026-03-01T00:00:00Z").plus_seconds(i64::try_from(number * 60).unwrap());
        usual
            .iter()
            .map(|column| match column.kind() {
                crate::ColumnType::DateTime => Cell::Instant(start),
                crate::ColumnType::Duration => Cell::Duration(number % 7_200),
                crate::ColumnType::Distance => Cell::Distance(number % 90_000),
                crate::ColumnType::Speed => Cell::Speed(Milli::from_thousandths(90_500)),
                _ => Cell::Text(format!("{} km SW of Vigo, Spain", number % 1_000)),
            })
            .collect()
    };
    let before = peak_kib();
    let begun = std::time::Instant::now();
    let mut writer = Format::Xlsx.open(Heading { columns: usual.clone(), ..english() }).unwrap();
    for batch in 0..100 {
        let rows: Vec<Row> = (batch * 1_000..batch * 1_000 + 1_000)
            .map(|number| {
                let name = format!("Van {}", number % 500);
                Row { subject: Subject { id: name.clone(), name }, cells: cells(number), leg: None }
            })
            .collect();
        writer.add(&rows).unwrap();
    }
    let mut bytes = Vec::new();
    writer.finish(&mut bytes).unwrap();
    let (took, more) = (begun.elapsed(), (peak_kib() - before) / 1_024);
    println!("100,000 rows: {took:?}, {more} MiB more, {} kB", bytes.len() / 1_000);
    assert!(more < 100, "{more} MiB");
}

#[test]
#[ignore = "writes documents to the folder in REPORT_EXAMPLES, to look at them"]
fn examples_to_look_at() {
    let folder = std::path::PathBuf::from(std::env::var_os("REPORT_EXAMPLES").unwrap());
    let rows: Vec<Row> = (0..120)
        .map(|number| {
            row(
                &format!("Van {}", number % 7),
                "2026-03-28T23:30:00Z",
                1_000 + 977 * number,
                "Ría de Vigo, España: a longer note that is broken into lines",
            )
        })
        .collect();
    for language in ConsoleLanguage::ALL {
        for format in Format::ALL {
            let name = format!("{}.{}", language.name(), format.name());
            std::fs::write(folder.join(name), document(format, heading(language, Units::Metric), &rows))
                .unwrap();
        }
    }
}
