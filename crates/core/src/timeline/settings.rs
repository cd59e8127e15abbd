//! Thresholds that define stops, trips and gaps. The defaults suit vehicles, ships and people.

use std::ops::RangeInclusive;

use serde::{Deserialize, Serialize};

/// The settings of a timeline. An account, a group or a device may have its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TimelineSettings {
    /// The shortest stop, in seconds.
    pub least_stop_s: u32,
    /// Maximum distance of the device from the centre of a stop, in metres.
    pub stop_radius_m: u32,
    /// Maximum distance that a vessel at anchor swings, in metres. Applies to devices that drift slowly for an hour or
    /// longer.
    pub anchored_radius_m: u32,
    /// The shortest trip, in metres. A shorter move belongs to the stop.
    pub least_trip_m: u32,
    /// The shortest silence that can be a gap, in seconds.
    pub least_gap_s: u32,
    /// The shortest gap, in usual reporting intervals of the device.
    pub gap_intervals: u32,
    /// Highest speed at which a device counts as standing, and a running engine as idling, in km/h.
    pub idling_speed_kmh: u32,
}

/// A setting is out of range.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be from {least} to {most}")]
pub struct SettingError {
    /// The member of [`TimelineSettings`], as in the API.
    pub setting: &'static str,
    /// The smallest number accepted.
    pub least: u32,
    /// The largest number accepted.
    pub most: u32,
}

impl Default for TimelineSettings {
    fn default() -> Self {
        Self {
            least_stop_s: 300,
            stop_radius_m: 150,
            anchored_radius_m: 400,
            least_trip_m: 300,
            least_gap_s: 1_800,
            gap_intervals: 20,
            idling_speed_kmh: 3,
        }
    }
}

impl TimelineSettings {
    /// Accepted values of `least_stop_s`: one minute to one day.
    pub const LEAST_STOP_S: RangeInclusive<u32> = 60..=86_400;
    /// Accepted values of `stop_radius_m`.
    pub const STOP_RADIUS_M: RangeInclusive<u32> = 20..=5_000;
    /// Accepted values of `anchored_radius_m`. A value smaller than the stop radius has no effect.
    pub const ANCHORED_RADIUS_M: RangeInclusive<u32> = 20..=10_000;
    /// Accepted values of `least_trip_m`.
    pub const LEAST_TRIP_M: RangeInclusive<u32> = 0..=100_000;
    /// Accepted values of `least_gap_s`: five minutes to a week.
    pub const LEAST_GAP_S: RangeInclusive<u32> = 300..=604_800;
    /// Accepted values of `gap_intervals`.
    pub const GAP_INTERVALS: RangeInclusive<u32> = 2..=1_000;
    /// Accepted values of `idling_speed_kmh`.
    pub const IDLING_SPEED_KMH: RangeInclusive<u32> = 0..=50;

    /// The values, in the order of the API document.
    pub const fn values(&self) -> [u32; 7] {
        [
            self.least_stop_s,
            self.stop_radius_m,
            self.anchored_radius_m,
            self.least_trip_m,
            self.least_gap_s,
            self.gap_intervals,
            self.idling_speed_kmh,
        ]
    }

    /// The settings with these values.
    pub const fn from_values(values: [u32; 7]) -> Self {
        let [
            least_stop_s,
            stop_radius_m,
            anchored_radius_m,
            least_trip_m,
            least_gap_s,
            gap_intervals,
            idling_speed_kmh,
        ] = values;
        Self {
            least_stop_s,
            stop_radius_m,
            anchored_radius_m,
            least_trip_m,
            least_gap_s,
            gap_intervals,
            idling_speed_kmh,
        }
    }

    /// Checks every range; the first setting that is out of range is the error.
    pub fn validate(&self) -> Result<(), SettingError> {
        let checks = [
            ("leastStopS", self.least_stop_s, Self::LEAST_STOP_S),
            ("stopRadiusM", self.stop_radius_m, Self::STOP_RADIUS_M),
            ("anchoredRadiusM", self.anchored_radius_m, Self::ANCHORED_RADIUS_M),
            ("leastTripM", self.least_trip_m, Self::LEAST_TRIP_M),
            ("leastGapS", self.least_gap_s, Self::LEAST_GAP_S),
            ("gapIntervals", self.gap_intervals, Self::GAP_INTERVALS),
            ("idlingSpeedKmh", self.idling_speed_kmh, Self::IDLING_SPEED_KMH),
        ];
        for (setting, value, range) in checks {
            if !range.contains(&value) {
                return Err(SettingError { setting, least: *range.start(), most: *range.end() });
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_out_of_range_are_named() {
        let check = |settings: TimelineSettings, expect: Option<&str>| {
            assert_eq!(settings.validate().err().map(|error| error.setting), expect, "{settings:?}");
        };
        let default = TimelineSettings::default();
        check(default, None);
        check(TimelineSettings { least_stop_s: 59, ..default }, Some("leastStopS"));
        check(TimelineSettings { stop_radius_m: 5_001, ..default }, Some("stopRadiusM"));
        check(TimelineSettings { anchored_radius_m: 0, ..default }, Some("anchoredRadiusM"));
        check(TimelineSettings { least_trip_m: 100_001, ..default }, Some("leastTripM"));
        check(TimelineSettings { least_gap_s: 299, ..default }, Some("leastGapS"));
        check(TimelineSettings { gap_intervals: 1, ..default }, Some("gapIntervals"));
        check(TimelineSettings { idling_speed_kmh: 51, ..default }, Some("idlingSpeedKmh"));
    }

    #[test]
    fn missing_settings_have_their_defaults() {
        let read: TimelineSettings = serde_json::from_str(r#"{"leastStopS": 600}"#).unwrap();
        assert_eq!(read, TimelineSettings { least_stop_s: 600, ..TimelineSettings::default() });
    }
}
