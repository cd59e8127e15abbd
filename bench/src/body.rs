//! Bodies of simulated locations that can be sent again and again: each time the date in them moves on, which
//! costs the load generator next to nothing.

use perigee_cli::fleet::{Fix, SimulatedDevice};

/// 2020-01-01T00:00:00Z.
const FIRST_DAY_MS: i64 = 1_577_836_800_000;
const INTERVAL_MS: i64 = 10_000;
const SEED: u64 = 1;

/// Locations of one device with ten seconds between them, from midnight on.
pub(crate) fn fixes(device: u32, count: usize) -> Vec<Fix> {
    // Twelve of twenty devices are vehicles; theirs are the tracks with most in them.
    let vehicle = SimulatedDevice::new(SEED, device * 20);
    let track = vehicle.track(FIRST_DAY_MS).take(count);
    let times = (0..).map(|index| FIRST_DAY_MS + index * INTERVAL_MS);
    track.zip(times).map(|(fix, time_ms)| Fix { time_ms, ..fix }).collect()
}

/// A body, and where the dates in it stand.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    dates: Vec<usize>,
}

impl Body {
    /// One location for a single, an array for more.
    pub(crate) fn new(device: u32, count: usize) -> Self {
        let (mut bytes, mut dates) = (Vec::new(), Vec::new());
        for (index, fix) in fixes(device, count).iter().enumerate() {
            if count > 1 {
                bytes.push(if index == 0 { b'[' } else { b',' });
            }
            dates.push(bytes.len() + "{\"dateTime\":\"".len());
            fix.write_json(&mut bytes);
        }
        if count > 1 {
            bytes.push(b']');
        }
        Self { bytes, dates }
    }

    /// Moves every location to this day; there are 7 * 12 * 28 of them.
    pub(crate) fn set_day(&mut self, day: usize) {
        let (year, month, date) = (2019 + day / 336 % 7, day / 28 % 12 + 1, day % 28 + 1);
        self.set_text(&format!("{year:04}-{month:02}-{date:02}"));
    }

    /// Moves every location to the day that is written so.
    pub(crate) fn set_text(&mut self, text: &str) {
        for place in &self.dates {
            self.bytes[*place..place + text.len()].copy_from_slice(text.as_bytes());
        }
    }
}
