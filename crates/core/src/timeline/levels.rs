//! Settings of timelines at each level: the account, its groups and its devices. A more specific level comes first.

use serde::{Deserialize, Serialize};

use super::{SettingError, TimelineSettings};
use crate::id::{DeviceId, GroupId};
use crate::revision::Revision;
use crate::time::Timestamp;

/// What has settings of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum SettingsHolder {
    /// One device.
    Device(DeviceId),
    /// The devices of a group.
    Group(GroupId),
    /// Every device of the account.
    Account,
}

/// The settings that are set at one level; `None` for what a less specific level decides.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct TimelineOverrides {
    /// See [`TimelineSettings::least_stop_s`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_stop_s: Option<u32>,
    /// See [`TimelineSettings::stop_radius_m`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stop_radius_m: Option<u32>,
    /// See [`TimelineSettings::anchored_radius_m`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchored_radius_m: Option<u32>,
    /// See [`TimelineSettings::least_trip_m`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_trip_m: Option<u32>,
    /// See [`TimelineSettings::least_gap_s`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub least_gap_s: Option<u32>,
    /// See [`TimelineSettings::gap_intervals`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap_intervals: Option<u32>,
    /// See [`TimelineSettings::idling_speed_kmh`].
    #[serde(skip_serializing_if = "Option::is_none")]
    pub idling_speed_kmh: Option<u32>,
}

/// The overrides of one level, as they are stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StoredOverrides {
    /// Counts the changes.
    pub revision: Revision,
    /// What is set.
    pub overrides: TimelineOverrides,
    /// When a client last changed it; `None` if it was never set.
    pub last_modified: Option<Timestamp>,
}

/// The settings that apply, and the level from which each comes; `None` for the default.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsInForce {
    /// The settings.
    pub settings: TimelineSettings,
    /// The levels of the values, in the order of [`TimelineOverrides::values`].
    pub levels: [Option<SettingsHolder>; TimelineOverrides::COUNT],
}

/// Devices whose whole histories are derived again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recomputing {
    /// The devices that the settings apply to.
    pub devices: u64,
    /// Those that are not done yet.
    pub pending: u64,
}

/// The settings of one level with what follows from them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SettingsState {
    /// What is set at the level.
    pub stored: StoredOverrides,
    /// What applies at the level.
    pub in_force: SettingsInForce,
    /// The progress of the derivation.
    pub recomputing: Recomputing,
}

impl TimelineOverrides {
    /// Number of settings.
    pub const COUNT: usize = 7;

    /// The values, in the order of the API document.
    pub const fn values(&self) -> [Option<u32>; Self::COUNT] {
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

    /// Checks every value that is set.
    pub fn validate(&self) -> Result<(), SettingError> {
        SettingsInForce::of([(SettingsHolder::Account, *self)]).settings.validate()
    }
}

impl SettingsInForce {
    /// Combines the overrides of the levels, the most specific first.
    pub fn of(layers: impl IntoIterator<Item = (SettingsHolder, TimelineOverrides)>) -> Self {
        let mut values = TimelineSettings::default().values();
        let mut levels = [None; TimelineOverrides::COUNT];
        for (holder, overrides) in layers {
            let places = values.iter_mut().zip(&mut levels);
            for ((value, level), own) in places.zip(overrides.values()) {
                if let Some(own) = own
                    && level.is_none()
                {
                    *value = own;
                    *level = Some(holder);
                }
            }
        }
        Self { settings: TimelineSettings::from_values(values), levels }
    }
}

impl StoredOverrides {
    /// Nothing was ever set.
    pub const UNSET: Self = Self {
        revision: Revision::FIRST,
        overrides: TimelineOverrides {
            least_stop_s: None,
            stop_radius_m: None,
            anchored_radius_m: None,
            least_trip_m: None,
            least_gap_s: None,
            gap_intervals: None,
            idling_speed_kmh: None,
        },
        last_modified: None,
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_most_specific_value_applies() {
        let device = SettingsHolder::Device(DeviceId::from_i64(1));
        let group = SettingsHolder::Group(GroupId::from_i64(2));
        let of_device = TimelineOverrides { least_stop_s: Some(600), ..TimelineOverrides::default() };
        let of_group = TimelineOverrides {
            least_stop_s: Some(900),
            stop_radius_m: Some(200),
            ..TimelineOverrides::default()
        };
        let found = SettingsInForce::of([(device, of_device), (group, of_group)]);
        let expect =
            TimelineSettings { least_stop_s: 600, stop_radius_m: 200, ..TimelineSettings::default() };
        assert_eq!(found.settings, expect);
        assert_eq!(found.levels[..3], [Some(device), Some(group), None]);
    }

    #[test]
    fn overrides_out_of_range_are_named() {
        let wrong = TimelineOverrides { gap_intervals: Some(1), ..TimelineOverrides::default() };
        assert_eq!(wrong.validate().unwrap_err().setting, "gapIntervals");
        assert_eq!(TimelineOverrides::default().validate(), Ok(()));
    }
}
