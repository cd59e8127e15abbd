//! The locations that are sent. Each is computed from its device and its second, so that the server's data can be
//! compared completely.

use std::io::Write as _;

use perigee_core::time::Timestamp;
use serde::Deserialize;

/// 2020-01-01T00:00:00Z.
const FIRST_MS: i64 = 1_577_836_800_000;

/// The second in which a location was taken; a device has at most one per second.
pub(crate) type Slot = u32;

/// A location as the server returns it.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Seen {
    pub(crate) device_id: Option<String>,
    date_time: String,
    latitude: f64,
    longitude: f64,
    speed: f64,
    satellites: u32,
    mileage: f64,
    attributes: Option<Note>,
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
struct Note {
    note: String,
}

struct Values {
    latitude: f64,
    longitude: f64,
    speed: f64,
    satellites: u32,
    mileage: f64,
    note: Option<String>,
}

/// A few metres from one second to the next, so that no location is suspect. Every number has as many decimals as the
/// service keeps.
fn values(device: usize, slot: Slot) -> Values {
    let wave = f64::from(slot % 600) - 300.0;
    let device = u32::try_from(device).unwrap_or(0);
    Values {
        latitude: rounded(40.0 + f64::from(device) * 0.1 + wave.abs() * 0.000_02, 1e7),
        longitude: rounded(-3.0 - wave.abs() * 0.000_01, 1e7),
        speed: rounded(8.0 + f64::from(slot % 50) * 0.1, 1e3),
        satellites: 5 + slot % 8,
        mileage: rounded(f64::from(slot) * 0.008, 1e3),
        note: slot.is_multiple_of(97).then(|| format!("device {device}, second {slot}")),
    }
}

fn rounded(number: f64, scale: f64) -> f64 {
    (number * scale).round() / scale
}

fn time(slot: Slot) -> Timestamp {
    Timestamp::from_millis(FIRST_MS + i64::from(slot) * 1000)
}

/// Appends the location as JSON for the API.
pub(crate) fn write(out: &mut Vec<u8>, device: usize, slot: Slot) {
    let Values { latitude, longitude, speed, satellites, mileage, note } = values(device, slot);
    let attributes = note.map_or(String::new(), |note| format!(",\"attributes\":{{\"note\":\"{note}\"}}"));
    let written = write!(
        out,
        "{{\"dateTime\":\"{}\",\"latitude\":{latitude},\"longitude\":{longitude},\"speed\":{speed},\"satellites\":{satellites},\"mileage\":{mileage}{attributes}}}",
        time(slot)
    );
    written.expect("writing to memory cannot fail");
}

/// The second of this location, if it equals what this device sends in that second.
pub(crate) fn recognise(device: usize, seen: &Seen) -> Option<Slot> {
    let millis = seen.date_time.parse::<Timestamp>().ok()?.as_millis() - FIRST_MS;
    let slot = Slot::try_from(millis / 1000).ok().filter(|_| millis % 1000 == 0)?;
    let wanted = values(device, slot);
    let same = |one: f64, other: f64| (one - other).abs() < 1e-9;
    let is_whole = same(seen.latitude, wanted.latitude)
        && same(seen.longitude, wanted.longitude)
        && same(seen.speed, wanted.speed)
        && same(seen.mileage, wanted.mileage)
        && seen.satellites == wanted.satellites
        && seen.attributes.as_ref().map(|note| &note.note) == wanted.note.as_ref();
    is_whole.then_some(slot)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_sent_points_are_recognised() {
        for slot in [0, 1, 97, 599, 600, 1_000_003] {
            let mut out = Vec::new();
            write(&mut out, 3, slot);
            let mut seen: Seen = serde_json::from_slice(&out).unwrap();
            assert_eq!(recognise(3, &seen), Some(slot));
            assert_eq!(recognise(2, &seen), None);
            seen.mileage += 0.001;
            assert_eq!(recognise(3, &seen), None);
        }
    }
}
