//! Real tracks, read from CSV files when they are there.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use perigee_core::locations::location::{Latitude, Location, Longitude, Milli, Readings};
use perigee_core::time::Timestamp;

use crate::Fleet;
use crate::simulate::{Arrival, receive};

/// The columns that matter.
struct Layout {
    separator: char,
    device: usize,
    time: usize,
    latitude: usize,
    longitude: usize,
    course: Option<usize>,
}

const LAYOUTS: [(&str, Layout); 2] = [
    (
        "bus_route14.csv",
        Layout { separator: ',', device: 1, time: 3, latitude: 4, longitude: 5, course: Some(6) },
    ),
    (
        "geolife_small.csv",
        Layout { separator: ';', device: 6, time: 7, latitude: 1, longitude: 0, course: None },
    ),
];

/// Every track in the folder, as it is when its points arrive one by one and when it is brought in at once.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Fleet>, Box<dyn Error>> {
    let mut fleets = Vec::new();
    for (file, layout) in LAYOUTS {
        let path = folder.join(file);
        if !path.exists() {
            continue;
        }
        let tracks = read(&fs::read_to_string(path)?, &layout)?;
        for (arrival, how) in [(Arrival::Live, "live"), (Arrival::Import, "import")] {
            let tracks = tracks.values().map(|track| receive(track.clone(), arrival)).collect();
            fleets.push(Fleet { name: format!("{file}, {how}"), tracks });
        }
    }
    Ok(fleets)
}

fn read(text: &str, layout: &Layout) -> Result<BTreeMap<String, Vec<Location>>, Box<dyn Error>> {
    let mut tracks: BTreeMap<String, Vec<Location>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields: Vec<&str> = line.split(layout.separator).map(|field| field.trim_matches('"')).collect();
        let field = |index: usize| fields.get(index).copied().ok_or("a line is too short");
        let course = match layout.course.map(field).transpose()? {
            None | Some("") => None,
            Some(course) => Some(Milli::from_f64(course.parse()?)?),
        };
        let time = format!("{}Z", field(layout.time)?.trim_end_matches("+00"));
        let location = Location {
            time: time.parse::<Timestamp>()?,
            latitude: Latitude::from_degrees(field(layout.latitude)?.parse()?)?,
            longitude: Longitude::from_degrees(field(layout.longitude)?.parse()?)?,
            readings: Readings { course, ..Readings::default() },
        };
        tracks.entry(field(layout.device)?.to_owned()).or_default().push(location);
    }
    for track in tracks.values_mut() {
        track.sort_by_key(|location| location.time);
    }
    Ok(tracks)
}
