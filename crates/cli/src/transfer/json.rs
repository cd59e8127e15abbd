//! Reads JSON documents: locations in the form of the API, or GeoJSON. They are read element by element, so that a
//! large file is never in memory as a whole.

mod geometry;

use std::fmt;
use std::io::BufRead;

use anyhow::{Context, Result};
use perigee_core::locations::location::{Field, MILEAGE_ALIAS};
use serde::de::{DeserializeSeed, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::{Map, Value};

use self::geometry::Geometry;
use super::draft::Draft;
use super::item::{Item, Sink};

pub(super) fn read(input: impl BufRead, sink: &mut Sink<'_>) -> Result<()> {
    let mut items = Items { sink, count: 0 };
    let mut document = serde_json::Deserializer::from_reader(input);
    Document(&mut items).deserialize(&mut document).context("cannot read the document")?;
    document.end().context("there is more data after the end of the document")
}

/// Passes items on to the sink, numbered from 1.
struct Items<'s, 'k> {
    sink: &'s mut Sink<'k>,
    count: u64,
}

impl Items<'_, '_> {
    fn pass<E: Error>(&mut self, body: Result<Vec<u8>, String>) -> Result<(), E> {
        self.count += 1;
        (self.sink)(Item { number: self.count, body }).map_err(E::custom)
    }

    fn pass_location<E: Error>(&mut self, location: &Value) -> Result<(), E> {
        self.pass(serde_json::to_vec(location).map_err(|error| error.to_string()))
    }

    /// Passes on one location per position of a feature. A point takes its readings from the properties; the positions
    /// of a line have only the times in `coordTimes`, in the same order.
    fn pass_feature<E: Error>(&mut self, feature: Feature) -> Result<(), E> {
        let mut properties = feature.properties.unwrap_or_default();
        let Some(geometry) = feature.geometry else {
            return self.pass(Err("it has no geometry".to_owned()));
        };
        if geometry.kind == "Point" {
            let body = geometry.positions.first().map_or(Err("it has no position".to_owned()), |position| {
                let time = ["dateTime", "time", "timestamp"].iter().find_map(|name| properties.remove(*name));
                location(time.as_ref(), position, properties)
            });
            return self.pass(body);
        }
        let times = ["coordTimes", "times"].iter().find_map(|name| properties.remove(*name));
        let mut times = times.iter().flat_map(flatten);
        for position in &geometry.positions {
            let body = location(times.next(), position, Map::new());
            self.pass(body)?;
        }
        Ok(())
    }
}

/// The elements of nested arrays; the times of a `MultiLineString` are nested like its coordinates.
fn flatten(times: &Value) -> Box<dyn Iterator<Item = &Value> + '_> {
    match times {
        Value::Array(inner) => Box::new(inner.iter().flat_map(flatten)),
        other => Box::new(std::iter::once(other)),
    }
}

/// The body of a location at this position; the properties become its fields.
fn location(
    time: Option<&Value>,
    position: &[f64; 3],
    properties: Map<String, Value>,
) -> Result<Vec<u8>, String> {
    let mut draft = Draft(properties);
    match time {
        Some(Value::String(text)) => draft.set_time(text),
        Some(Value::Number(number)) => draft.set_time(&number.to_string()),
        _ => {}
    }
    draft.set("longitude", position[0]);
    draft.set("latitude", position[1]);
    // The altitude is NaN if the position has none.
    if position[2].is_finite() && !draft.0.contains_key("altitude") {
        draft.set("altitude", position[2]);
    }
    draft.finish()
}

#[derive(Deserialize)]
struct Feature {
    geometry: Option<Geometry>,
    properties: Option<Map<String, Value>>,
}

/// The whole document: an array of locations, an answer of the API with `locations`, one location, a feature or a
/// feature collection. It also reads the array in `locations`.
struct Document<'i, 's, 'k>(&'i mut Items<'s, 'k>);

impl<'de> DeserializeSeed<'de> for Document<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Document<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("locations or GeoJSON")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(location) = elements.next_element::<Value>()? {
            self.0.pass_location(&location)?;
        }
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<(), A::Error> {
        let mut feature = Feature { geometry: None, properties: None };
        let mut location = Map::new();
        while let Some(name) = members.next_key::<String>()? {
            match name.as_str() {
                "features" => members.next_value_seed(Features(self.0))?,
                "locations" => members.next_value_seed(Document(self.0))?,
                "geometry" => feature.geometry = members.next_value()?,
                "properties" => feature.properties = members.next_value()?,
                // The document is one location, not a list.
                field if field == MILEAGE_ALIAS || Field::named(field).is_some() => {
                    location.insert(name, members.next_value()?);
                }
                _ => drop(members.next_value::<IgnoredAny>()?),
            }
        }
        if location.contains_key("dateTime") {
            self.0.pass_location(&Value::Object(location))?;
        }
        if feature.geometry.is_some() { self.0.pass_feature(feature) } else { Ok(()) }
    }
}

/// The array `features` of a feature collection.
struct Features<'i, 's, 'k>(&'i mut Items<'s, 'k>);

impl<'de> DeserializeSeed<'de> for Features<'_, '_, '_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_seq(self)
    }
}

impl<'de> Visitor<'de> for Features<'_, '_, '_> {
    type Value = ();

    fn expecting(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        text.write_str("an array of features")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut elements: A) -> Result<(), A::Error> {
        while let Some(feature) = elements.next_element::<Feature>()? {
            self.0.pass_feature(feature)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::item::testing::items;
    use crate::args::FileFormat;

    #[test]
    fn locations_are_passed_on_unchanged() {
        for text in
            [r#"[{"a":1},{"a":2}]"#, r#"{"success":true,"locations":[{"a":1},{"a":2}],"nextCursor":"x"}"#]
        {
            let found = items(FileFormat::Json, text);
            assert_eq!(found, [(1, Ok(json!({"a": 1}))), (2, Ok(json!({"a": 2})))], "{text}");
        }
        let one = r#"{"dateTime":"2026-05-01T12:00:00Z","latitude":1,"longitude":2}"#;
        assert_eq!(items(FileFormat::Json, one).len(), 1);
    }

    #[test]
    fn features_become_locations() {
        let text = r#"{"type":"FeatureCollection","features":[
          {"type":"Feature","properties":{"time":"2026-05-01T12:00:00Z","speed":3},"geometry":{"type":"Point","coordinates":[-8.7207,42.2406,5]}},
          {"type":"Feature","properties":{"coordTimes":["2026-05-01T13:00:00Z"]},"geometry":{"coordinates":[[1,2],[3,4]],"type":"LineString"}},
          {"type":"Feature","properties":null,"geometry":null}]}"#;
        let found = items(FileFormat::Geojson, text);
        assert_eq!(
            found[0].1,
            Ok(
                json!({"dateTime": "2026-05-01T12:00:00Z", "speed": 3, "longitude": -8.7207, "latitude": 42.2406, "altitude": 5.0})
            )
        );
        assert_eq!(
            found[1].1,
            Ok(json!({"dateTime": "2026-05-01T13:00:00Z", "longitude": 1.0, "latitude": 2.0}))
        );
        assert_eq!(found[2], (3, Err("it has no time".to_owned())));
        assert_eq!(found[3], (4, Err("it has no geometry".to_owned())));
    }
}
