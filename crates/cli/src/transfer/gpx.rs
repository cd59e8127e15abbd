//! GPX 1.0 and 1.1: points of tracks and routes, and waypoints, each with its time.

use std::io::{self, BufRead};

use anyhow::Result;

use super::column::Column;
use super::draft::Draft;
use super::item::{Item, Sink};
use super::xml::{Attributes, Name, Visit, walk};

const POINTS: [&str; 3] = ["trkpt", "rtept", "wpt"];
/// Extensions of other programs whose names and units match the API.
const SAME_NAMES: [&str; 3] = ["accuracy", "course", "hdop"];
/// The prefix of elements in exports for fields that GPX lacks.
const OWN_PREFIX: &str = "perigee";

pub(super) fn read(input: impl BufRead, sink: &mut Sink<'_>) -> Result<()> {
    walk(input, &mut Points { sink, point: None })
}

struct Points<'s, 'k> {
    sink: &'s mut Sink<'k>,
    /// The point being read, and the line it began on.
    point: Option<(u64, Result<Draft, String>)>,
}

impl Visit for Points<'_, '_> {
    fn begin(&mut self, name: &str, element: &Attributes<'_>, line: u64) -> io::Result<()> {
        if POINTS.contains(&name) {
            let mut draft = Draft::default();
            for (attribute, field) in [("lat", "latitude"), ("lon", "longitude")] {
                if let Some(text) = element.get(attribute) {
                    draft.set_number(field, &text);
                }
            }
            self.point = Some((line, Ok(draft)));
        }
        Ok(())
    }

    fn end(&mut self, name: Name<'_>, text: &str, _line: u64) -> io::Result<()> {
        if POINTS.contains(&name.local) {
            let Some((number, point)) = self.point.take() else { return Ok(()) };
            return (self.sink)(Item { number, body: point.and_then(Draft::finish) });
        }
        let Some((_, point)) = &mut self.point else { return Ok(()) };
        let Ok(draft) = point else { return Ok(()) };
        match name.local {
            _ if text.is_empty() => {}
            own if name.prefix == Some(OWN_PREFIX) => {
                if let Err(reason) = Column::named(own).add(text, draft) {
                    *point = Err(reason);
                }
            }
            "time" => draft.set_time(text),
            "ele" => draft.set_number("altitude", text),
            "sat" => draft.set_number("satellites", text),
            // GPX 1.0 and Garmin's extension of 1.1 use metres per second.
            "speed" => draft.set_speed_ms(text),
            "atemp" => draft.set_number("temperature", text),
            other if SAME_NAMES.contains(&other) => draft.set_number(other, text),
            _ => {}
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::super::item::testing::items;
    use super::*;
    use crate::args::FileFormat;

    #[test]
    fn points_of_tracks_are_read() {
        let text = r#"<?xml version="1.0"?>
<gpx version="1.1" xmlns:x="urn:x"><trk><name>Walk</name><trkseg>
<trkpt lat="42.2406" lon="-8.7207"><ele>12.5</ele><time>2026-05-01T12:00:00Z</time><sat>9</sat>
  <extensions><x:TrackPointExtension><x:speed>5</x:speed><x:course>271.5</x:course></x:TrackPointExtension></extensions>
</trkpt>
<trkpt lat="42" lon="-8"/>
</trkseg></trk></gpx>"#;
        let found = items(FileFormat::Gpx, text);
        let expect = json!({"latitude": 42.2406, "longitude": -8.7207, "altitude": 12.5,
            "dateTime": "2026-05-01T12:00:00Z", "satellites": 9, "speed": 18.0, "course": 271.5});
        assert_eq!(found, [(3, Ok(expect)), (6, Err("it has no time".to_owned()))]);
    }

    #[test]
    fn malformed_xml_is_reported_with_its_line() {
        let error = read("<gpx>\n<trk>\n</gpx>".as_bytes(), &mut |_item| Ok(())).unwrap_err();
        assert!(error.to_string().starts_with("line 3: "), "{error}");
    }
}
