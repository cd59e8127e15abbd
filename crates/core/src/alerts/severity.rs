//! The severity of alerts: by name, unless sent as critical.

use crate::alerts::alert::Alert;

/// How serious an alert is, in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// For information; no action is needed.
    Info,
    /// Somebody should look at it soon.
    Warning,
    /// Somebody must act at once. Not held back by e-mail caps.
    Critical,
}

/// Names of alerts that are only informative. `SOSButton` is critical, every other name a warning.
const INFO: &[&str] = &[
    "AllowedArea",
    "CheckArea",
    "CheckInDue",
    "CheckInReceived",
    "CheckPoint",
    "ExpiredDate",
    "FuelJumpUp",
    "FuelJumpUp2",
    "FutureDate",
    "IdleTime",
    "MaintenanceSoon",
    "Mileage",
    "PastDate",
    "Sensor1Off",
    "Sensor1On",
    "Sensor2Off",
    "Sensor2On",
    "Sensor3Off",
    "Sensor3On",
    "Sensor4Off",
    "Sensor4On",
    "SleepMode",
];

impl Severity {
    /// Every severity, in ascending order.
    pub const ALL: [Self; 3] = [Self::Info, Self::Warning, Self::Critical];

    /// Its name in the API.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }

    /// The number that a store keeps; higher is more severe.
    pub const fn rank(self) -> u8 {
        self as u8
    }

    /// The severity with this number; critical for unknown numbers.
    pub fn from_rank(rank: u8) -> Self {
        Self::ALL.get(usize::from(rank)).copied().unwrap_or(Self::Critical)
    }

    /// The severity of this alert.
    pub fn of(alert: &Alert) -> Self {
        if alert.critical || Alert::is_critical_by_name(&alert.name) {
            Self::Critical
        } else if INFO.contains(&alert.name.as_str()) {
            Self::Info
        } else {
            Self::Warning
        }
    }
}

/// The error for a text that is not a severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("must be one of info, warning, critical")]
pub struct ParseSeverityError;

impl std::str::FromStr for Severity {
    type Err = ParseSeverityError;

    fn from_str(text: &str) -> Result<Self, ParseSeverityError> {
        Self::ALL.into_iter().find(|severity| severity.name() == text).ok_or(ParseSeverityError)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Timestamp;

    #[test]
    fn names_have_severities_and_critical_is_above_them() {
        let check = |name: &str, critical: bool, expect: Severity| {
            let alert = Alert {
                time: Timestamp::MIN,
                name: name.into(),
                text: None,
                position: None,
                critical,
                attributes: std::collections::BTreeMap::new(),
            };
            assert_eq!(Severity::of(&alert), expect, "{name}");
            assert_eq!(Severity::from_rank(expect.rank()), expect);
        };
        check("SOSButton", false, Severity::Critical);
        check("SpeedLimit", false, Severity::Warning);
        check("SpeedLimit", true, Severity::Critical);
        check("CheckPoint", false, Severity::Info);
        check("something of their own", false, Severity::Warning);
    }
}
