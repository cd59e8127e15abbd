//! Documents opened by the programs of other people: a spreadsheet, openpyxl, and the tools of Poppler. Each test runs where
//! its program is installed; `scripts/report-files` installs all of them and demands that each test runs.

#![expect(clippy::unwrap_used, reason = "a case that cannot go on has failed")]

use std::fs;
use std::path::Path;
use std::process::Command;

use perigee_core::access::preference::ConsoleLanguage;
use perigee_core::locations::location::{Latitude, Longitude, Milli};
use perigee_core::notifications::routing::Units;
use perigee_core::time::Timestamp;
use perigee_reports::{Cell, Column, Format, Heading, ReportKind, Row, Subject};

const COLUMNS: [Column; 6] =
    [Column::Device, Column::From, Column::Duration, Column::Distance, Column::MaxSpeed, Column::Note];
/// Texts that a spreadsheet could take for something else.
const NOTES: [&str; 4] = ["=1+1", "two\nlines", "Ñandú, \"quoted\"", "007"];

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn heading() -> Heading {
    Heading {
        kind: ReportKind::Trips,
        title: "Viajes".to_owned(),
        account: "Acme & Söhne".to_owned(),
        from: at("2026-03-22T23:00:00Z"),
        to: at("2026-03-29T22:00:00Z"),
        created: at("2026-04-01T08:00:00Z"),
        zone: "Europe/Madrid".parse().unwrap(),
        language: ConsoleLanguage::Spanish,
        units: Units::Metric,
        columns: COLUMNS.to_vec(),
        envelope: Vec::new(),
    }
}

fn row(number: usize) -> Row {
    let name = format!("Van {}", number % 7);
    let metres = u64::try_from(number * 1_500).unwrap();
    let cells = vec![
        Cell::Text(name.clone()),
        Cell::Instant(at("2026-03-28T07:30:00Z").plus_seconds(i64::try_from(number).unwrap() * 60)),
        Cell::Duration(90_061),
        Cell::Distance(metres),
        Cell::Speed(Milli::from_thousandths(90_500)),
        Cell::Text(NOTES[number % NOTES.len()].to_owned()),
    ];
    let degrees =
        |north: f64| (Latitude::from_degrees(north).unwrap(), Longitude::from_degrees(-8.0).unwrap());
    let leg = Some((degrees(40.0), degrees(41.0)));
    Row { subject: Subject { id: format!("dev_{}", number % 7), name }, cells, leg }
}

fn write(format: Format, rows: usize, path: &Path) {
    let mut writer = format.open(heading()).unwrap();
    for first in (0..rows).step_by(1_000) {
        let batch: Vec<Row> = (first..rows.min(first + 1_000)).map(row).collect();
        writer.add(&batch).unwrap();
    }
    let mut file = fs::File::create(path).unwrap();
    writer.finish(&mut file).unwrap();
}

/// What a program printed; `None` if it is not installed and need not be.
fn run(program: &str, arguments: &[&str]) -> Option<String> {
    match Command::new(program).args(arguments).output() {
        Ok(output) => {
            let (text, errors) =
                (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
            assert!(output.status.success(), "{program} {arguments:?}: {text}{errors}");
            Some(text.into_owned())
        }
        Err(error) => {
            assert!(std::env::var_os("PERIGEE_NEEDS_PROGRAMS").is_none(), "{program}: {error}");
            None
        }
    }
}

#[test]
fn libreoffice_opens_a_workbook() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("report.xlsx");
    write(Format::Xlsx, 500, &book);
    let (out, book) = (folder.path().to_str().unwrap(), book.to_str().unwrap());
    let profile = format!("-env:UserInstallation=file://{out}/profile");
    // Commas, quotes, UTF-8, from the first line on.
    let csv = "csv:Text - txt - csv (StarCalc):44,34,76,1";
    let arguments = [profile.as_str(), "--headless", "--convert-to", csv, "--outdir", out, book];
    let Some(_) = run("soffice", &arguments) else { return };
    let table = fs::read_to_string(folder.path().join("report.csv")).unwrap();
    assert!(table.contains("Van 3"), "{table}");
    // The text that begins like a formula stays what it is, and is not computed.
    assert!(table.contains("=1+1") && table.contains("007"), "{table}");
    assert!(table.contains("25:01:01"), "{table}");
}

/// Reads the first rows of both sheets, and how each value is stored.
const OPENPYXL: &str = r#"
import sys, openpyxl
book = openpyxl.load_workbook(sys.argv[1])
assert len(book.sheetnames) == 2, book.sheetnames
sheet = book.worksheets[0]
assert sheet.freeze_panes is not None
rows = list(sheet.iter_rows())
head = next(i for i, row in enumerate(rows) if row[0].value == "Dispositivo")
first = rows[head + 1]
kinds = [cell.data_type for cell in first[:6]]
assert kinds == ["s", "d", "d", "n", "n", "s"], kinds
assert first[5].value == "=1+1" and first[5].data_type == "s", first[5].value
assert abs(rows[head + 2][3].value - 1.5) < 1e-9, rows[head + 2][3].value
assert first[1].is_date and first[1].value.hour == 8, first[1].value
print(len(rows) - head - 1)
"#;

#[test]
fn openpyxl_reads_numbers_dates_and_texts() {
    let folder = tempfile::tempdir().unwrap();
    let book = folder.path().join("report.xlsx");
    write(Format::Xlsx, 500, &book);
    let python = std::env::var("PERIGEE_REPORT_PYTHON").unwrap_or_else(|_unset| "python3".to_owned());
    let has_it = Command::new(&python).args(["-c", "import openpyxl"]).output();
    if !has_it.is_ok_and(|output| output.status.success()) {
        assert!(std::env::var_os("PERIGEE_NEEDS_PROGRAMS").is_none(), "{python} has no openpyxl");
        return;
    }
    let printed = run(&python, &["-c", OPENPYXL, book.to_str().unwrap()]).unwrap();
    assert_eq!(printed.trim(), "500");
}

#[test]
fn poppler_draws_a_tagged_document_with_embedded_fonts() {
    let folder = tempfile::tempdir().unwrap();
    let pages = folder.path().join("report.pdf");
    write(Format::Pdf, 120, &pages);
    let path = pages.to_str().unwrap();
    let Some(about) = run("pdfinfo", &[path]) else { return };
    assert!(about.lines().any(|line| line.starts_with("Tagged:") && line.ends_with("yes")), "{about}");
    let Some(fonts) = run("pdffonts", &[path]) else { return };
    let listed: Vec<&str> = fonts.lines().skip(2).collect();
    assert!(!listed.is_empty(), "{fonts}");
    // Columns from the right: object number and generation, then unicode map, subset, embedded.
    for font in listed {
        let words: Vec<&str> = font.split_whitespace().rev().collect();
        assert_eq!(words[2..5], ["yes", "yes", "yes"], "{fonts}");
    }
    let Some(text) = run("pdftotext", &["-layout", path, "-"]) else { return };
    assert!(text.contains("Viajes") && text.contains("Acme & Söhne") && text.contains("Ñandú"), "{text}");
    let first = folder.path().join("page");
    let Some(_) = run("pdftoppm", &["-r", "40", "-gray", path, first.to_str().unwrap()]) else { return };
    let drawn = fs::read_dir(folder.path()).unwrap().filter_map(Result::ok);
    let images: Vec<Vec<u8>> = drawn
        .filter(|entry| entry.path().extension().is_some_and(|end| end == "pgm"))
        .map(|entry| fs::read(entry.path()).unwrap())
        .collect();
    assert!(images.len() >= 2, "{} pages", images.len());
    assert!(images.iter().all(|image| image.iter().any(|grey| *grey < 100)), "a page is blank");
}
