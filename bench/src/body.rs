//! Bodies of simulated locations that can be sent repeatedly: only their dates are changed, which costs the load
//! generator almost nothing.

use perigee_simulator::fleet::{Fix, SimulatedDevice};

/// 2020-01-01T00:00:00Z.
const FIRST_DAY_MS: i64 = 1_577_836_800_000;
const HOUR_MS: i64 = 3_600_000;
const SEED: u64 = 1;

/// Ten seconds, the interval of a vehicle on the road.
pub(crate) const INTERVAL_MS: i64 = 10_000;

/// Locations of one device with this time between them, from midnight on.
pub(crate) fn fixes(device: u32, count: usize, interval_ms: i64) -> Vec<Fix> {
    // Twelve of twenty simulated devices are vehicles, whose locations have the most fields.
    let vehicle = SimulatedDevice::new(SEED, device * 20);
    let track = vehicle.track(FIRST_DAY_MS).take(count);
    let times = (0..).map(|index| FIRST_DAY_MS + index * interval_ms);
    track.zip(times).map(|(fix, time_ms)| Fix { time_ms, ..fix }).collect()
}

/// How far the dates of a body move at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    TenSeconds,
    Hour,
    Day,
}

/// A body, and the positions of the dates in it.
#[derive(Clone, Debug)]
pub(crate) struct Body {
    pub(crate) bytes: Vec<u8>,
    dates: Vec<usize>,
    step: Step,
}

impl Body {
    /// One location as an object, several as an array.
    pub(crate) fn new(device: u32, count: usize, interval_ms: i64) -> Self {
        let (mut bytes, mut dates) = (Vec::new(), Vec::new());
        for (index, fix) in fixes(device, count, interval_ms).iter().enumerate() {
            if count > 1 {
                bytes.push(if index == 0 { b'[' } else { b',' });
            }
            dates.push(bytes.len() + "{\"dateTime\":\"".len());
            fix.write_json(&mut bytes);
        }
        if count > 1 {
            bytes.push(b']');
        }
        let span_ms = i64::try_from(count).unwrap_or(i64::MAX).saturating_mul(interval_ms);
        let step = match count {
            1 => Step::TenSeconds,
            _ if span_ms <= HOUR_MS => Step::Hour,
            _ => Step::Day,
        };
        Self { bytes, dates, step }
    }

    /// Sets every location to the time of this round. There are at least 2,352 rounds without a repetition.
    pub(crate) fn set_round(&mut self, round: usize) {
        match self.step {
            Step::TenSeconds => {
                let (hour, rest) = (round / 360, round % 360);
                self.set_text(&format!("{}:{:02}:{}0", hour_text(hour), rest / 6, rest % 6));
            }
            Step::Hour => self.set_text(&hour_text(round)),
            Step::Day => self.set_text(&day_text(round)),
        }
    }

    /// Sets every location to times with this prefix.
    pub(crate) fn set_text(&mut self, text: &str) {
        for offset in &self.dates {
            self.bytes[*offset..offset + text.len()].copy_from_slice(text.as_bytes());
        }
    }
}

/// One of the days 1 to 28, which every month has, of seven years.
fn day_text(day: usize) -> String {
    format!("{:04}-{:02}-{:02}", 2019 + day / 336 % 7, day / 28 % 12 + 1, day % 28 + 1)
}

fn hour_text(hour: usize) -> String {
    format!("{}T{:02}", day_text(hour / 24), hour % 24)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn rounds_never_share_a_time() {
        for (count, rounds) in [(1, 20_000), (100, 2352), (1000, 2352)] {
            let mut body = Body::new(0, count, INTERVAL_MS);
            let mut seen = HashSet::new();
            for round in 0..rounds {
                body.set_round(round);
                let first = &body.bytes[body.dates[0]..][.."2019-01-01T00:00:00".len()];
                assert!(seen.insert(first.to_vec()), "{count} at once, round {round}");
            }
        }
    }
}
