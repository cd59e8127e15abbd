//! The rows that go into plain tables.

use perigee_simulator::fleet::Fix;

use crate::body::{INTERVAL_MS, fixes};

/// Rows of a batch.
pub(super) const BATCH: usize = 1000;
/// Milliseconds of a day.
pub(super) const DAY_MS: i64 = 86_400_000;
/// A further device, whose day is read.
pub(super) const READ_DEVICE: i32 = 99_999;

const DEVICES: u32 = 200;

/// The table. Integers only, as small as they can be.
pub(super) const TABLE: &str =
    "CREATE TABLE location (device INTEGER NOT NULL, time BIGINT NOT NULL, latitude INTEGER NOT NULL,
    longitude INTEGER NOT NULL, altitude INTEGER, speed INTEGER, course INTEGER, accuracy INTEGER, satellites INTEGER,
    ignition BOOLEAN, mileage BIGINT, PRIMARY KEY (device, time))";

/// A day of a device.
pub(super) const DAY: &str =
    "SELECT time, latitude, longitude, altitude, speed, course, accuracy, satellites, ignition, mileage
    FROM location WHERE device = $1 AND time BETWEEN $2 AND $3 ORDER BY time";

/// Batches of devices in turn, each later than the one before of the same device.
#[derive(Clone, Debug)]
pub(super) struct Source {
    days: Vec<Vec<Fix>>,
    first_device: i32,
    round: i64,
    next: usize,
}

impl Source {
    /// The share of one of several writers, which have no device in common.
    pub(super) fn new(writer: u32, writers: u32) -> Self {
        let devices = (DEVICES / writers).max(1);
        let days = (0..devices).map(|device| fixes(writer * devices + device, BATCH, INTERVAL_MS)).collect();
        Self { days, first_device: i32::try_from(writer * devices).unwrap_or(0), round: 0, next: 0 }
    }

    /// The next batch and its device.
    pub(super) fn batch(&mut self) -> (i32, Vec<Fix>) {
        let device = self.next % self.days.len();
        let shift = self.round * DAY_MS;
        let fixes =
            self.days[device].iter().map(|fix| Fix { time_ms: fix.time_ms + shift, ..*fix }).collect();
        self.next += 1;
        self.round += i64::from(self.next.is_multiple_of(self.days.len()));
        (self.first_device + i32::try_from(device).unwrap_or(0), fixes)
    }
}
