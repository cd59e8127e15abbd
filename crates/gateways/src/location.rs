//! Converts a report to a location: readings that have a member of their own are stored in it, all others become
//! attributes.

use perigee_core::locations::location::{
    Attribute, Degrees, Field, Latitude, Location, Longitude, Milli, Readings, Thousandths, kind,
};
use perigee_core::reading_fields;
use serde_json::{Map, Value as Json, json};

use crate::decoded::DecodeError;
use crate::notation::number::whole;
use crate::report::{Position, Report};
use crate::value::Value;

/// Maximum number of attributes from values; the rest of the allowed number is for a raw position, cells and wireless
/// networks.
const ATTRIBUTES_MAX: usize = Location::ATTRIBUTES_MAX - 4;

/// The alert of an alarm name: a name that the service knows, or the alarm name with an upper-case first letter.
pub fn alert_name(word: &str) -> String {
    let known = match word {
        "sos" => "SOSButton",
        "vibration" => "Vibration",
        "lowBattery" => "LowBattery",
        "powerCut" => "GPSUnplugged",
        "overspeed" => "SpeedLimit",
        "hardBraking" => "HarshBraking",
        "hardAcceleration" => "HarshAcceleration",
        "idle" => "IdleTime",
        "gpsAntennaCut" => "GPSNoSignal",
        _ => {
            let mut letters = word.chars();
            return letters
                .next()
                .map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect());
        }
    };
    known.to_owned()
}

/// The position, if it is in range.
fn position_on_earth(report: &Report) -> Option<(Latitude, Longitude)> {
    let position = report.position?;
    Some((Latitude::from_degrees(position.latitude).ok()?, Longitude::from_degrees(position.longitude).ok()?))
}

/// The location of a report that has a valid position. A report without a time gets the time of arrival.
pub fn to_location(report: &Report, arrival: perigee_core::time::Timestamp) -> Option<Location> {
    let (latitude, longitude) = position_on_earth(report)?;
    let mut readings = to_readings(report);
    // A tracker that got no acknowledgement sends the same record again from its memory. How it was sent is no part of
    // it, or it would be stored twice.
    readings.attributes.remove("archive");
    Some(Location { time: report.time.unwrap_or(arrival), latitude, longitude, readings })
}

/// All parts of a report except its time and position. A value that does not fit its member becomes an attribute; a
/// position out of range becomes the attributes `rawLatitude` and `rawLongitude`.
pub fn to_readings(report: &Report) -> Readings {
    let nowhere = position_on_earth(report).is_none();
    let mut readings = Readings {
        altitude: measure(report.altitude_m),
        speed: measure(report.speed_kmh).filter(|speed| speed.as_thousandths() >= 0),
        course: measure(report.course.map(|degrees| degrees.rem_euclid(360.0))).map(|course| {
            if course.as_thousandths() == 360_000 { Milli::from_thousandths(0) } else { course }
        }),
        accuracy: measure(report.accuracy_m).filter(|metres| metres.as_thousandths() >= 0),
        source: report.source.filter(|_| !nowhere),
        valid: report.valid.filter(|_| !nowhere && !at_null_island(report)),
        inputs: report.inputs.list(),
        outputs: report.outputs.list(),
        alerts: (!report.alarms.is_empty())
            .then(|| report.alarms.iter().map(|word| alert_name(word)).collect()),
        alert_texts: alarm_texts(report),
        ..Readings::default()
    };
    for (name, value) in &report.values {
        let name = name.to_string();
        if !set_member(&mut readings, &name, value)
            && readings.attributes.len() < ATTRIBUTES_MAX
            && let Some(attribute) = attribute(value)
        {
            readings.attributes.insert(name, attribute);
        }
    }
    if let (true, Some(Position { latitude, longitude })) = (nowhere, report.position) {
        for (name, degrees) in [("rawLatitude", latitude), ("rawLongitude", longitude)] {
            if let Some(attribute) = attribute(&Value::Real(degrees)) {
                readings.attributes.insert(name.to_owned(), attribute);
            }
        }
    }
    add_network(&mut readings, report);
    readings
}

/// The text of each alarm; none if the report has no text or no alarm.
fn alarm_texts(report: &Report) -> Option<Vec<String>> {
    let text: String = report.alarm_text.as_ref()?.chars().take(Location::TEXT_MAX).collect();
    (!report.alarms.is_empty()).then(|| vec![text; report.alarms.len()])
}

/// [`DecodeError::NotOnEarth`] if a report has a position that no location can have.
pub fn position_error(reports: &[Report]) -> Option<DecodeError> {
    let is_nowhere = |report: &Report| report.position.is_some() && position_on_earth(report).is_none();
    reports.iter().any(is_nowhere).then_some(DecodeError::NotOnEarth)
}

/// Receivers without a fix often send 0, 0 and mark it as valid: their flag is ignored.
fn at_null_island(report: &Report) -> bool {
    position_on_earth(report)
        .is_some_and(|(latitude, longitude)| latitude.as_e7() == 0 && longitude.as_e7() == 0)
}

fn measure(number: Option<f64>) -> Option<Milli> {
    Milli::from_f64(number?).ok()
}

/// Sets the member for this value; false if there is no such member or the value does not fit.
fn set_member(readings: &mut Readings, name: &str, value: &Value) -> bool {
    let number = number_of(value);
    let accept = |field: Field| number.and_then(|number| field.bounds().accept(number).ok());
    match name {
        "ignition" => {
            let Some(on) = flag_of(value) else { return false };
            readings.ignition = Some(on);
            return true;
        }
        "sat" => {
            let count = number.filter(|_| accept(Field::Satellites).is_some());
            readings.satellites = count.and_then(|count| u32::try_from(whole(count)).ok());
            return readings.satellites.is_some();
        }
        _ => {}
    }
    let (member, number) = match name {
        "hdop" => (&mut readings.hdop, accept(Field::Hdop)),
        "batteryLevel" => (&mut readings.battery, accept(Field::Battery)),
        "fuelLevel" => (&mut readings.fuel, accept(Field::Fuel)),
        "odometer" => (&mut readings.mileage, measure(number.map(|metres| metres / 1000.0))),
        "temp1" => (&mut readings.temperature, accept(Field::Temperature)),
        "temp2" => (&mut readings.temperature2, accept(Field::Temperature2)),
        "rpm" => (&mut readings.rpm, accept(Field::Rpm)),
        _ => return false,
    };
    *member = number;
    number.is_some()
}

/// The number of a value, which may also be a text: forms and many webhooks send only texts.
fn number_of(value: &Value) -> Option<f64> {
    value.as_f64().or_else(|| crate::notation::fields::real(value.as_str()?.trim()))
}

/// A boolean, which may also be a text.
fn flag_of(value: &Value) -> Option<bool> {
    match value {
        Value::Flag(on) => Some(*on),
        _ => crate::notation::loose::flag_text(value.as_str()?),
    }
}

fn attribute(value: &Value) -> Option<Attribute> {
    Some(match value {
        Value::Flag(flag) => Attribute::Flag(*flag),
        Value::Integer(number) => Attribute::Integer(*number),
        Value::Real(number) if number.is_finite() => Attribute::Real(tidy(*number)),
        Value::Real(_) => return None,
        Value::Word(text) => Attribute::Text((*text).to_owned()),
        Value::Text(text) => {
            Attribute::Text(text.chars().filter(|c| *c != '\0').take(Location::TEXT_MAX).collect())
        }
    })
}

/// Rounds binary fractions: 0.30000000000000004 becomes 0.3.
fn tidy(number: f64) -> f64 {
    let scaled = (number * 1e9).round();
    if scaled.abs() < 1e15 { scaled / 1e9 } else { number }
}

/// Cells as `mcc-mnc-lac-cell`, networks as their address, both with `@signal` if one was sent.
fn add_network(readings: &mut Readings, report: &Report) {
    let signal = |signal: Option<i32>| signal.map_or_else(String::new, |signal| format!("@{signal}"));
    let cells = report.cells.iter().map(|tower| {
        format!("{}-{}-{}-{}{}", tower.mcc, tower.mnc, tower.lac, tower.cell, signal(tower.signal))
    });
    let networks = report.wifi.iter().map(|point| format!("{}{}", point.mac, signal(point.signal)));
    for (name, list) in [("cellTowers", cells.collect::<Vec<_>>()), ("wifi", networks.collect())] {
        let text = list.join(" ");
        if !text.is_empty() {
            readings
                .attributes
                .insert(name.to_owned(), Attribute::Text(text.chars().take(Location::TEXT_MAX).collect()));
        }
    }
}

/// A report as `perigee decode` writes it: the members of a location in the API, and `located`.
pub fn report_json(report: &Report) -> Json {
    let mut members = Map::new();
    let position = position_on_earth(report);
    members.insert("located".to_owned(), json!(position.is_some()));
    if let Some(time) = report.time {
        members.insert(Field::DateTime.name().to_owned(), json!(time.to_string()));
    }
    if let Some((latitude, longitude)) = position {
        members.insert(Field::Latitude.name().to_owned(), json!(Degrees::from(latitude)));
        members.insert(Field::Longitude.name().to_owned(), json!(Degrees::from(longitude)));
    }
    write_readings(&mut members, to_readings(report));
    Json::Object(members)
}

macro_rules! define {
    ($(
        $member:ident: $kind:ident $field:ident $name:literal $bounds:ident bit $bit:literal column $column:literal
        $example:literal $what:literal $($unit:literal)?;
    )+) => {
        fn write_readings(members: &mut Map<String, Json>, readings: Readings) {
            $(
                if let Some(value) = readings.$member.into_json() {
                    members.insert($name.to_owned(), value);
                }
            )+
        }
    };
}

reading_fields!(define);

/// A reading as the API writes it; `None` if it was not sent.
trait IntoJson {
    fn into_json(self) -> Option<Json>;
}

impl IntoJson for kind::Number {
    fn into_json(self) -> Option<Json> {
        self.map(|number| json!(Thousandths::from(number)))
    }
}

impl IntoJson for kind::Count {
    fn into_json(self) -> Option<Json> {
        self.map(Json::from)
    }
}

impl IntoJson for kind::Flag {
    fn into_json(self) -> Option<Json> {
        self.map(Json::from)
    }
}

impl IntoJson for kind::Source {
    fn into_json(self) -> Option<Json> {
        self.map(|source| Json::from(source.name()))
    }
}

impl IntoJson for kind::Flags {
    fn into_json(self) -> Option<Json> {
        self.map(Json::from)
    }
}

impl IntoJson for kind::Texts {
    fn into_json(self) -> Option<Json> {
        self.map(Json::from)
    }
}

impl IntoJson for kind::Attributes {
    fn into_json(self) -> Option<Json> {
        let is_sent = !self.is_empty();
        is_sent.then(|| self.into_iter().map(|(name, value)| (name, attribute_json(value))).collect())
    }
}

impl IntoJson for kind::Accessories {
    fn into_json(self) -> Option<Json> {
        self.map(|accessories| json!(accessories))
    }
}

fn attribute_json(value: Attribute) -> Json {
    match value {
        Attribute::Text(text) => Json::from(text),
        Attribute::Integer(number) => Json::from(number),
        Attribute::Real(number) => Json::from(number),
        Attribute::Flag(flag) => Json::from(flag),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn readings_get_their_members() {
        let mut report = Report { valid: Some(true), course: Some(360.0), ..Report::default() };
        report.locate(1.5, -2.25);
        report.set("sat", 7_u8);
        report.set("odometer", 19_249_u32);
        report.set("temp1", 21.3);
        report.set("batteryLevel", 130_u8);
        report.set("rssi", 4_u8);
        report.set(("io", 27), 0.1 + 0.2);
        report.input(2, true);
        report.alarm("powerCut");
        report.alarm("tampering");
        report.cell(302, 208, 0_u16, 8_320_000_u32);
        let json = report_json(&report);
        let expect = json!({
            "located": true, "latitude": 1.5, "longitude": -2.25, "course": 0, "valid": true, "satellites": 7,
            "temperature": 21.3, "mileage": 19.249, "inputs": [false, true], "alerts": ["GPSUnplugged", "Tampering"],
            "attributes": {"batteryLevel": 130, "cellTowers": "302-208-0-8320000", "io27": 0.3, "rssi": 4},
        });
        assert_eq!(json, expect);
    }

    #[test]
    fn a_record_from_memory_is_the_one_that_was_sent_live() {
        let mut report = Report::default();
        report.locate(1.5, -2.25);
        report.set("rssi", 4_u8);
        let live = to_location(&report, perigee_core::time::Timestamp::MIN);
        report.set("archive", true);
        assert_eq!(to_location(&report, perigee_core::time::Timestamp::MIN), live);
    }

    #[test]
    fn numbers_that_came_as_text_get_their_members() {
        let mut report = Report::default();
        for (name, text) in [
            ("batteryLevel", "83"),
            ("sat", "7"),
            ("hdop", "0.9"),
            ("odometer", "1500"),
            ("fuelLevel", " 40 "),
            ("temp1", "-3.5"),
            ("rpm", "800"),
            ("ignition", "true"),
            ("temp2", "warm"),
        ] {
            report.set(name, Value::text(text));
        }
        let expect = json!({
            "located": false, "battery": 83, "satellites": 7, "hdop": 0.9, "mileage": 1.5, "fuel": 40,
            "temperature": -3.5, "rpm": 800, "ignition": true, "attributes": {"temp2": "warm"},
        });
        assert_eq!(report_json(&report), expect);
    }

    #[test]
    fn impossible_coordinates_are_not_a_position() {
        let mut report = Report { valid: Some(true), ..Report::default() };
        report.locate(91.0, 200.0);
        let expect = json!({"located": false, "attributes": {"rawLatitude": 91.0, "rawLongitude": 200.0}});
        assert_eq!(report_json(&report), expect);
        report.locate(0.0, 0.0);
        assert_eq!(report_json(&report), json!({"located": true, "latitude": 0, "longitude": 0}));
    }
}
