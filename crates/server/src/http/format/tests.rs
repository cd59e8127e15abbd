//! Tests of every format: snapshots of its documents, and that all fields can be read back.

mod read_back;
mod samples;

use perigee_core::locations::location::{MILEAGE_ALIAS, StoredLocation};
use perigee_core::zone::Zone;
use proptest::prelude::*;
use serde_json::{Value, json};
use utoipa::PartialSchema;
use utoipa::openapi::{RefOr, Schema};

use self::samples::{any_stored, bare, full};
use super::{Field, Format, Heading, Selection};
use crate::http::json::Pointer;
use crate::http::reply::Envelope;
use crate::http::routes::locations::input::read_location;
use crate::http::routes::locations::view::LocationView;

fn document(format: Format, selection: Selection, locations: &[StoredLocation]) -> String {
    let title = "Star & <Moon>".to_owned();
    let mut writer = format.writer(Heading {
        envelope: Envelope::of(None),
        leading_members: Vec::new(),
        title,
        selection,
        place: None,
    });
    let mut out = Vec::new();
    writer.open(&mut out);
    for stored in locations {
        writer.write(&mut out, stored);
    }
    writer.close(&mut out, None);
    String::from_utf8(out).unwrap()
}

#[test]
fn documents_match_their_snapshots() {
    let locations = [bare(), full()];
    for format in Format::ALL {
        let name = format!("{}_{}", "all", format.name());
        insta::assert_snapshot!(name, document(format, Selection::ALL, &locations).replace('\r', "␍"));
    }
}

#[test]
fn documents_without_locations_are_complete() {
    for format in Format::ALL {
        let name = format!("{}_{}", "none", format.name());
        insta::assert_snapshot!(name, document(format, Selection::ALL, &[]).replace('\r', "␍"));
        assert_eq!(read_back::members(format, &document(format, Selection::ALL, &[])), Vec::<Value>::new());
    }
}

#[test]
fn only_chosen_fields_are_written() {
    let chosen = Selection::of(&[Field::Speed, Field::DateTime, Field::Warnings]);
    let locations = [bare(), full()];
    let written = |format| document(format, chosen, &locations);
    assert_eq!(
        written(Format::NdJson),
        "{\"dateTime\":\"2026-05-01T12:00:00Z\"}\n\
         {\"dateTime\":\"2026-05-01T12:00:00.125Z\",\"speed\":18.52,\"warnings\":[\"=1+1\",\"\\\"a\\\",b\"]}\n"
    );
    assert_eq!(
        written(Format::Csv),
        "dateTime,speed,warnings\r\n\
         2026-05-01T12:00:00Z,,\r\n\
         2026-05-01T12:00:00.125Z,18.52,\"[\"\"=1+1\"\",\"\"\\\"\"a\\\"\",b\"\"]\"\r\n"
    );
    let none_there = document(Format::NdJson, Selection::of(&[Field::Speed]), &[bare()]);
    assert_eq!(none_there, "{}\n");
}

#[test]
fn no_cell_can_be_taken_for_a_formula() {
    let text = document(Format::Csv, Selection::ALL, &[full()]);
    for record in csv::Reader::from_reader(text.as_bytes()).records() {
        for cell in &record.unwrap() {
            let is_number = cell.parse::<f64>().is_ok();
            assert!(is_number || !cell.starts_with(['=', '+', '-', '@', '\t', '\r', '\n']), "{cell}");
        }
    }
}

#[test]
fn the_writer_has_every_member_of_the_document_in_its_order() {
    let RefOr::T(Schema::Object(described)) = LocationView::schema() else { panic!("it is an object") };
    // Words for the position are written only if they are requested.
    let described: Vec<&str> =
        described.properties.keys().map(String::as_str).filter(|name| *name != "place").collect();
    // The alias of a field is not a field of its own.
    let names: Vec<&str> = described.iter().copied().filter(|name| *name != MILEAGE_ALIAS).collect();
    assert_eq!(Field::ALL.iter().map(|field| field.name()).collect::<Vec<_>>(), names);
    let written = document(Format::NdJson, Selection::ALL, &[full()]);
    let written: Value = serde_json::from_str(&written).unwrap();
    assert!(written.as_object().unwrap().keys().map(String::as_str).eq(described.iter().copied()));
}

proptest! {
    #[test]
    fn every_format_brings_every_field_back(stored in prop::collection::vec(any_stored(), 0..4)) {
        for format in Format::ALL {
            let text = document(format, Selection::ALL, &stored);
            let back = read_back::members(format, &text);
            prop_assert_eq!(back.len(), stored.len());
            for (members, stored) in back.iter().zip(&stored) {
                let location = read_location(members, Pointer::root(), &Zone::utc());
                prop_assert_eq!(&location.unwrap(), &stored.location, "{:?}: {}", format, &text);
                prop_assert_eq!(&members["receivedAt"], &json!(stored.received_at.to_string()));
                prop_assert_eq!(members["late"] == json!(true), stored.trust.late);
                prop_assert_eq!(members["suspect"] == json!(true), stored.trust.suspect);
            }
        }
    }
}
