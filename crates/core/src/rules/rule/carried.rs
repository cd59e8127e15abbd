//! Alerts that the device sent as part of a location.

use std::collections::BTreeMap;

use crate::alerts::alert::Alert;
use crate::locations::location::Location;

/// The alert's name if a location has only the flag of a critical alert.
const UNNAMED: &str = "SOSButton";

/// The alerts in a location. The text of each is at the same index in `alert_texts`.
///
/// `has_critical_alert` does not identify the critical one, so all of them are critical.
pub fn carried_alerts(location: &Location) -> Vec<Alert> {
    let readings = &location.readings;
    let critical = readings.has_critical_alert == Some(true);
    let names = readings.alerts.as_deref().unwrap_or_default();
    let texts = readings.alert_texts.as_deref().unwrap_or_default();
    let make = |name: String, text: Option<&String>| Alert {
        time: location.time,
        critical: critical || Alert::is_critical_by_name(&name),
        name,
        text: text.filter(|text| !text.is_empty()).cloned(),
        position: Some((location.latitude, location.longitude)),
        attributes: BTreeMap::new(),
    };
    let given = names.iter().enumerate().filter(|(_, name)| !name.trim().is_empty());
    let alerts: Vec<Alert> = given
        .map(|(index, name)| make(name.chars().take(Alert::NAME_MAX).collect(), texts.get(index)))
        .collect();
    if alerts.is_empty() && critical { vec![make(UNNAMED.to_owned(), texts.first())] } else { alerts }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::locations::location::{Latitude, Longitude, Readings};
    use crate::time::Timestamp;

    #[test]
    fn names_and_texts_are_paired() {
        let check = |names: &[&str],
                     texts: &[&str],
                     critical: Option<bool>,
                     expect: &[(&str, Option<&str>, bool)]| {
            let list = |items: &[&str]| Some(items.iter().map(|item| (*item).to_owned()).collect::<Vec<_>>());
            let location = Location {
                time: Timestamp::from_millis(5),
                latitude: Latitude::from_e7(1),
                longitude: Longitude::from_e7(2),
                readings: Readings {
                    alerts: list(names).filter(|names| !names.is_empty()),
                    alert_texts: list(texts).filter(|texts| !texts.is_empty()),
                    has_critical_alert: critical,
                    ..Readings::default()
                },
            };
            let found = carried_alerts(&location);
            let found: Vec<_> = found
                .iter()
                .map(|alert| (alert.name.as_str(), alert.text.as_deref(), alert.critical))
                .collect();
            assert_eq!(found, expect, "{names:?} {texts:?} {critical:?}");
        };
        check(&[], &[], None, &[]);
        check(&[], &[], Some(false), &[]);
        check(&[], &[], Some(true), &[("SOSButton", None, true)]);
        check(&["Vibration"], &[], None, &[("Vibration", None, false)]);
        check(
            &["Vibration", "SOSButton"],
            &["", "help"],
            None,
            &[("Vibration", None, false), ("SOSButton", Some("help"), true)],
        );
        check(&["", "RPM"], &["one", "two", "three"], Some(true), &[("RPM", Some("two"), true)]);
    }
}
