//! KML 2.2: placemarks with a time and a point, and the tracks of its `gx` extension.

use std::collections::VecDeque;
use std::io::{self, BufRead};

use anyhow::Result;
use perigee_core::time::Timestamp;

use super::column::Column;
use super::draft::{Draft, instant};
use super::item::{Item, Sink};
use super::xml::{Attributes, Name, Visit, walk};

pub(super) fn read(input: impl BufRead, sink: &mut Sink<'_>) -> Result<()> {
    walk(input, &mut Placemarks { sink, track: None, placemark: None, is_in_point: false })
}

struct Placemarks<'s, 'k> {
    sink: &'s mut Sink<'k>,
    track: Option<Track>,
    placemark: Option<Placemark>,
    is_in_point: bool,
}

/// Times and positions come in two lists; those without a counterpart wait.
#[derive(Default)]
struct Track {
    times: VecDeque<Option<Timestamp>>,
    positions: VecDeque<(u64, String)>,
}

#[derive(Default)]
struct Placemark {
    line: u64,
    time: Option<String>,
    point: Option<String>,
    /// The name of the data element being read.
    datum: Option<String>,
    data: Vec<(String, String)>,
}

impl Placemarks<'_, '_> {
    fn pair(&mut self) -> io::Result<()> {
        let Some(track) = &mut self.track else { return Ok(()) };
        while !track.times.is_empty()
            && let Some((number, text)) = track.positions.pop_front()
        {
            let time = track.times.pop_front().flatten().map(|time| time.to_string());
            (self.sink)(Item { number, body: location(time.as_deref(), text.split_whitespace(), &[]) })?;
        }
        Ok(())
    }
}

impl Visit for Placemarks<'_, '_> {
    fn begin(&mut self, name: &str, element: &Attributes<'_>, line: u64) -> io::Result<()> {
        match name {
            "Track" => self.track = Some(Track::default()),
            "Placemark" => self.placemark = Some(Placemark { line, ..Placemark::default() }),
            "Point" => self.is_in_point = true,
            "Data" => {
                if let Some(placemark) = &mut self.placemark {
                    placemark.datum = element.get("name");
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn end(&mut self, name: Name<'_>, text: &str, line: u64) -> io::Result<()> {
        match (name.local, &mut self.track, &mut self.placemark) {
            ("when", Some(track), _) => {
                track.times.push_back(instant(text));
                self.pair()?;
            }
            ("coord", Some(track), _) => {
                track.positions.push_back((line, text.to_owned()));
                self.pair()?;
            }
            ("when", None, Some(placemark)) => placemark.time = Some(text.to_owned()),
            ("coordinates", _, Some(placemark)) if self.is_in_point => {
                placemark.point = Some(text.to_owned());
            }
            ("value", _, Some(placemark)) => {
                if let Some(name) = placemark.datum.take().filter(|_| !text.is_empty()) {
                    placemark.data.push((name, text.to_owned()));
                }
            }
            ("Point", ..) => self.is_in_point = false,
            ("Track", ..) => {
                for (number, _) in self.track.take().into_iter().flat_map(|track| track.positions) {
                    (self.sink)(Item { number, body: Err("it has no time".to_owned()) })?;
                }
            }
            ("Placemark", ..) => {
                if let Some(Placemark { line, time, point: Some(point), data, .. }) = self.placemark.take() {
                    let body = location(time.as_deref(), point.split(','), &data);
                    (self.sink)(Item { number: line, body })?;
                }
            }
            _ => {}
        }
        Ok(())
    }
}

/// Makes a location from time, coordinates and further data.
fn location<'t>(
    time: Option<&str>,
    mut coordinates: impl Iterator<Item = &'t str>,
    data: &[(String, String)],
) -> Result<Vec<u8>, String> {
    let mut draft = Draft::default();
    if let Some(time) = time {
        draft.set_time(time);
    }
    for (name, text) in data {
        Column::named(name).add(text, &mut draft)?;
    }
    for name in ["longitude", "latitude", "altitude"] {
        if let Some(text) = coordinates.next() {
            draft.set_number(name, text);
        }
    }
    draft.finish()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::item::testing::items;
    use crate::args::FileFormat;

    #[test]
    fn placemarks_and_tracks_are_read() {
        let text = r#"<kml xmlns:gx="urn:x"><Document>
<Placemark><TimeStamp><when>2026-05-01T12:00:00Z</when></TimeStamp><Point><coordinates>-8.7207,42.2406,3</coordinates></Point></Placemark>
<Placemark><Point><coordinates>-8,42</coordinates></Point></Placemark>
<Placemark><gx:Track>
<when>2026-05-01T13:00:00Z</when>
<when>2026-05-01T14:00:00Z</when>
<gx:coord>-9 43 0</gx:coord>
<gx:coord>-10 44</gx:coord>
<gx:coord>-11 45</gx:coord>
</gx:Track></Placemark></Document></kml>"#;
        let at = |hour: u32, longitude: f64, latitude: f64| json!({"dateTime": format!("2026-05-01T{hour}:00:00Z"), "longitude": longitude, "latitude": latitude});
        let found = items(FileFormat::Kml, text);
        let refused = || Err("it has no time".to_owned());
        let numbers: Vec<u64> = found.iter().map(|(number, _)| *number).collect();
        assert_eq!(numbers, [2, 3, 7, 8, 9]);
        assert_eq!(found[0].1.as_ref().unwrap()["altitude"], 3);
        assert_eq!(found[1].1, refused());
        assert_eq!(found[2].1.as_ref().unwrap()["latitude"], 43);
        let last = found[3].1.as_ref().unwrap();
        assert_eq!((&last["dateTime"], &last["longitude"]), (&at(14, -10.0, 44.0)["dateTime"], &json!(-10)));
        assert_eq!(found[4].1, refused());
    }
}
