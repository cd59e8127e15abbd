//! Compares what `perigee decode` writes with what was recorded.

use serde_json::Value as Json;

/// Why a report is not the recorded one.
pub(crate) fn core_difference(want: &Json, got: &Json) -> Option<&'static str> {
    if want["located"] != got["located"] {
        return Some("located");
    }
    if let Some(time) = want["time"].as_str() {
        let seconds = |text: Option<&str>| {
            text.and_then(|text| text.parse::<perigee_core::time::Timestamp>().ok())
                .map(perigee_core::time::Timestamp::as_millis)
        };
        match (seconds(Some(time)), seconds(got["dateTime"].as_str())) {
            (Some(want), Some(got)) if (want - got).abs() <= 1000 => {}
            _ => return Some("time"),
        }
    }
    if want["located"] != Json::Bool(true) {
        return None;
    }
    let near = |name: &str, by: f64, turn: f64| {
        let number = |side: &Json| side[name].as_f64().unwrap_or(0.0).rem_euclid(turn);
        (number(want) - number(got)).abs() <= by
    };
    if want["valid"] == Json::Bool(true) && got["valid"] == Json::Bool(false) {
        return Some("valid");
    }
    let checks = [("latitude", 1e-5), ("longitude", 1e-5), ("speed", 0.15), ("altitude", 0.51)];
    for (name, by) in checks {
        if !near(name, by, 1e12) {
            return Some(name);
        }
    }
    (!near("course", 0.51, 360.0)).then_some("course")
}

/// Whether a recorded value is what was decoded.
pub(crate) fn is_same_value(name: &str, want: &Json, got: &Json) -> bool {
    let member = match name {
        "sat" => Some(("satellites", 1.0)),
        "hdop" => Some(("hdop", 1.0)),
        "batteryLevel" => Some(("battery", 1.0)),
        "fuelLevel" => Some(("fuel", 1.0)),
        "odometer" => Some(("mileage", 0.001)),
        "temp1" => Some(("temperature", 1.0)),
        "temp2" => Some(("temperature2", 1.0)),
        "rpm" => Some(("rpm", 1.0)),
        "ignition" => Some(("ignition", 1.0)),
        _ => None,
    };
    if let Some((member, scale)) = member {
        let want = want.as_f64().map_or_else(|| want.clone(), |number| Json::from(number * scale));
        return is_same(&want, &got[member]);
    }
    let pin = |prefix: &str| name.strip_prefix(prefix)?.parse::<usize>().ok();
    for (prefix, list) in [("in", "inputs"), ("out", "outputs")] {
        if let (Some(pin), true) = (pin(prefix), want.is_boolean()) {
            return pin > 0 && got[list][pin - 1] == *want;
        }
    }
    if name == "alarm" {
        let alerts = got["alerts"].as_array().cloned().unwrap_or_default();
        let words = want.as_str().unwrap_or_default().split(',').filter(|word| !word.is_empty());
        return words.map(perigee_gateways::alert_name).all(|name| alerts.contains(&Json::from(name)));
    }
    is_same(want, &got["attributes"][name])
}

fn is_same(want: &Json, got: &Json) -> bool {
    match (want.as_f64(), got.as_f64()) {
        (Some(want), Some(got)) => (want - got).abs() <= (want.abs() * 0.001).max(0.0015),
        _ => want == got,
    }
}
