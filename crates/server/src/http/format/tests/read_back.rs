//! Reads a document back, with parsers that share no code with the writers, into the members of submitted locations.

use quick_xml::events::{BytesStart, Event};
use quick_xml::{Reader, XmlVersion};
use serde_json::{Map, Value, json};

use super::super::Format;

pub(super) fn members(format: Format, text: &str) -> Vec<Value> {
    match format {
        Format::Json => array(&serde_json::from_str::<Value>(text).unwrap()["locations"]),
        Format::NdJson => text.lines().map(|line| serde_json::from_str(line).unwrap()).collect(),
        Format::GeoJson => {
            array(&serde_json::from_str::<Value>(text).unwrap()["features"]).iter().map(feature).collect()
        }
        Format::Csv => table(text),
        Format::Gpx => elements(text, "trkpt"),
        Format::Kml => elements(text, "Placemark"),
    }
}

fn array(value: &Value) -> Vec<Value> {
    value.as_array().unwrap().clone()
}

fn feature(feature: &Value) -> Value {
    let mut members = feature["properties"].clone();
    let coordinates = array(&feature["geometry"]["coordinates"]);
    assert_eq!(coordinates.get(2), members.get("altitude"));
    members["longitude"] = coordinates[0].clone();
    members["latitude"] = coordinates[1].clone();
    members
}

fn table(text: &str) -> Vec<Value> {
    assert!(text.ends_with("\r\n"));
    let mut reader = csv::ReaderBuilder::new().terminator(csv::Terminator::CRLF).from_reader(text.as_bytes());
    let names = reader.headers().unwrap().clone();
    let row = |record: csv::StringRecord| {
        let cells = names.iter().zip(&record).filter(|(_, cell)| !cell.is_empty());
        Value::Object(cells.map(|(name, cell)| (name.to_owned(), datum(cell))).collect())
    };
    reader.records().map(|record| row(record.unwrap())).collect()
}

/// Numbers, booleans, lists and maps are JSON; anything else is plain text.
fn datum(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| json!(text))
}

fn attribute(element: &BytesStart<'_>, name: &str) -> Option<String> {
    let attribute = element.try_get_attribute(name).unwrap()?;
    Some(attribute.normalized_value(XmlVersion::Explicit1_0).unwrap().into_owned())
}

/// The elements of this name, with the texts in them under the names they have in JSON.
fn elements(text: &str, item: &str) -> Vec<Value> {
    let mut reader = Reader::from_str(text);
    let (mut items, mut current) = (Vec::new(), None::<Map<String, Value>>);
    let (mut name, mut content) = (String::new(), String::new());
    loop {
        match reader.read_event().unwrap() {
            Event::Start(element) => {
                let own = element.local_name().as_ref().to_owned();
                if own == item {
                    let mut members = Map::new();
                    for (attribute_name, member) in [("lat", "latitude"), ("lon", "longitude")] {
                        if let Some(value) = attribute(&element, attribute_name) {
                            members.insert(member.to_owned(), datum(&value));
                        }
                    }
                    current = Some(members);
                }
                // The parent of the `value` element of KML has the name.
                if own != "value" {
                    name = attribute(&element, "name").unwrap_or(own);
                }
                content.clear();
            }
            Event::Text(text) => content.push_str(&text.xml10_content()),
            Event::GeneralRef(reference) => content.push(match reference.resolve_char_ref().unwrap() {
                Some(character) => character,
                None => named(&reference.xml10_content()),
            }),
            Event::End(element) if element.local_name().as_ref() == item => {
                items.push(Value::Object(current.take().unwrap()));
            }
            Event::End(_) => {
                if let Some(members) = &mut current {
                    close(members, &name, &content);
                }
                name.clear();
            }
            Event::Eof => return items,
            _ => {}
        }
    }
}

fn named(entity: &str) -> char {
    match entity {
        "amp" => '&',
        "lt" => '<',
        "gt" => '>',
        "quot" => '"',
        "apos" => '\'',
        other => panic!("{other} is not declared"),
    }
}

fn close(members: &mut Map<String, Value>, name: &str, content: &str) {
    let member = match name {
        "" | "extensions" | "ExtendedData" | "TimeStamp" | "Point" | "altitudeMode" => return,
        "ele" => "altitude",
        "sat" => "satellites",
        "time" | "when" => "dateTime",
        "coordinates" => {
            for (member, text) in ["longitude", "latitude", "altitude"].into_iter().zip(content.split(',')) {
                members.insert(member.to_owned(), datum(text));
            }
            return;
        }
        other => other,
    };
    members.insert(member.to_owned(), datum(content));
}
