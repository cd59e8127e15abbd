//! Reads real tracks from CSV files, whose columns are recognised by their headings.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context, Result};

/// The tracks of a file, each of one device.
#[derive(Clone, Debug)]
pub(crate) struct Tracks {
    pub(crate) name: String,
    /// Locations as JSON objects, in the order of the file.
    pub(crate) devices: Vec<Vec<String>>,
}

/// Reads every CSV file of a folder.
pub(crate) fn read_all(folder: &Path) -> Result<Vec<Tracks>> {
    let mut all = Vec::new();
    for entry in std::fs::read_dir(folder).with_context(|| format!("cannot read {}", folder.display()))? {
        let path = entry?.path();
        if path.extension().is_some_and(|extension| extension == "csv") {
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            let devices = read(&std::fs::read_to_string(&path)?).with_context(|| name.clone())?;
            all.push(Tracks { name, devices });
        }
    }
    all.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(all)
}

fn read(text: &str) -> Result<Vec<Vec<String>>> {
    let heading = text.lines().next().context("the file is empty")?;
    let separator = if heading.contains(';') { ';' } else { ',' };
    let split = |line: &str| -> Vec<String> {
        line.split(separator).map(|field| field.trim().trim_matches('"').to_owned()).collect()
    };
    let headings = split(heading);
    let column = |names: &[&str]| {
        headings.iter().position(|heading| names.iter().any(|name| heading.eq_ignore_ascii_case(name)))
    };
    let time = column(&["timestamp", "dateTime", "time", "t"]).context("no column with the time")?;
    let latitude = column(&["latitude", "lat", "y"]).context("no column with the latitude")?;
    let longitude = column(&["longitude", "lon", "lng", "x"]).context("no column with the longitude")?;
    let device = column(&["device", "vehicle_id", "tracker"]);
    let course = column(&["course", "bearing", "heading"]);
    let mut tracks: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for line in text.lines().skip(1) {
        let fields = split(line);
        let field = |index: usize| fields.get(index).map_or("", String::as_str);
        let instant = field(time).trim_end_matches('Z').trim_end_matches("+00").replace(' ', "T");
        let mut object = format!(
            "{{\"dateTime\":\"{instant}Z\",\"latitude\":{},\"longitude\":{}",
            field(latitude),
            field(longitude)
        );
        if let Some(course) = course.map(field).filter(|course| !course.is_empty()) {
            write!(object, ",\"course\":{course}")?;
        }
        object.push('}');
        tracks.entry(device.map(field).unwrap_or_default().to_owned()).or_default().push(object);
    }
    Ok(tracks.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_known_by_their_headings() {
        let tracks =
            read("X;Y;tracker;t\n1.5;2.5;7;2009-01-01 10:00:00+00\n1.6;2.5;8;2009-01-01 10:00:05+00")
                .unwrap();
        let first = r#"{"dateTime":"2009-01-01T10:00:00Z","latitude":2.5,"longitude":1.5}"#;
        assert_eq!((tracks.len(), tracks[0][0].as_str()), (2, first));
        assert!(read("a,b\n1,2").is_err());
    }
}
