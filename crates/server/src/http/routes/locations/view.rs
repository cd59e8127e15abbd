//! A location as clients see it, and as the document describes what they send.

use std::collections::BTreeMap;

use perigee_core::location::{FixSource, StoredLocation};
use serde::Serialize;
use serde_json::{Map, Value, json};
use utoipa::openapi::schema::Type;
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::http::decimal::{Degrees, Thousandths};
use crate::http::submission::{open_schema, write_attributes};

/// Where a device was. What was not sent is absent.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
#[schema(as = Location)]
pub struct LocationView {
    /// When the fix was taken.
    #[schema(example = "2026-05-01T12:00:00Z", format = DateTime)]
    date_time: String,
    /// Degrees north (WGS 84), to the seventh decimal.
    #[schema(value_type = f64, example = 42.2406, minimum = -90, maximum = 90)]
    latitude: Degrees,
    /// Degrees east (WGS 84), to the seventh decimal.
    #[schema(value_type = f64, example = -8.7207, minimum = -180, maximum = 180)]
    longitude: Degrees,
    /// Metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 12.5, minimum = -1_000_000_000, maximum = 1_000_000_000)]
    altitude: Option<Thousandths>,
    /// Kilometres an hour.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 18.52, minimum = 0, maximum = 1_000_000_000)]
    speed: Option<Thousandths>,
    /// Degrees from true north, 0 to under 360; 360 is taken as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 271.5, minimum = 0, exclusive_maximum = 360)]
    course: Option<Thousandths>,
    /// Metres.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 5, minimum = 0, maximum = 1_000_000_000)]
    accuracy: Option<Thousandths>,
    /// The sender's own fix flag.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = true)]
    valid: Option<bool>,
    /// Satellites used.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = 9, minimum = 0, maximum = 1000)]
    satellites: Option<u32>,
    /// Horizontal dilution of precision.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 0.9, minimum = 0, maximum = 1_000_000_000)]
    hdop: Option<Thousandths>,
    /// Percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 87, minimum = 0, maximum = 100)]
    battery: Option<Thousandths>,
    /// Percent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 64.5, minimum = 0, maximum = 100)]
    fuel: Option<Thousandths>,
    /// Percent, second tank.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 12, minimum = 0, maximum = 100)]
    fuel2: Option<Thousandths>,
    /// Degrees Celsius.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = -18.2, minimum = -273.15, maximum = 1_000_000_000)]
    temperature: Option<Thousandths>,
    /// Degrees Celsius, second probe.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 4, minimum = -273.15, maximum = 1_000_000_000)]
    temperature2: Option<Thousandths>,
    /// Seconds sensor 1 was on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 30, minimum = 0, maximum = 1_000_000_000)]
    sensor_time1: Option<Thousandths>,
    /// Seconds sensor 2 was on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 30, minimum = 0, maximum = 1_000_000_000)]
    sensor_time2: Option<Thousandths>,
    /// Seconds sensor 3 was on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 30, minimum = 0, maximum = 1_000_000_000)]
    sensor_time3: Option<Thousandths>,
    /// Seconds sensor 4 was on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 30, minimum = 0, maximum = 1_000_000_000)]
    sensor_time4: Option<Thousandths>,
    /// Seconds without movement.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 600, minimum = 0, maximum = 1_000_000_000)]
    inactive_seconds: Option<Thousandths>,
    /// Revolutions a minute.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 1500, minimum = 0, maximum = 1_000_000_000)]
    rpm: Option<Thousandths>,
    /// Kilometres.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 120_345.6, minimum = 0, maximum = 1_000_000_000)]
    mileage: Option<Thousandths>,
    /// The same as `mileage`, under the spelling that clients of older systems use.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<f64>, example = 120_345.6, minimum = 0, maximum = 1_000_000_000)]
    milleage: Option<Thousandths>,
    /// Whether the ignition is on.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = true)]
    ignition: Option<bool>,
    /// Digital inputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!([true, false]), max_items = 64)]
    inputs: Option<Vec<bool>>,
    /// Digital outputs.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!([false]), max_items = 64)]
    outputs: Option<Vec<bool>>,
    /// Names of warnings.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!(["LowVoltage"]), max_items = 64)]
    warnings: Option<Vec<String>>,
    /// Their texts, each of at most 1000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!(["Supply below 11 V"]), max_items = 64)]
    warning_texts: Option<Vec<String>>,
    /// Names of alerts the position carries.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!(["SpeedLimit"]), max_items = 64)]
    alerts: Option<Vec<String>>,
    /// Their texts, each of at most 1000 characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!(["Faster than 20 km/h"]), max_items = 64)]
    alert_texts: Option<Vec<String>>,
    /// Whether one of them is critical.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = false)]
    has_critical_alert: Option<bool>,
    /// How the position was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = "gnss", value_type = Option<FixSourceName>)]
    source: Option<&'static str>,
    /// Whatever else was sent: strings, numbers and booleans, at most 200.
    #[serde(skip_serializing_if = "Map::is_empty")]
    #[schema(value_type = Option<BTreeMap<String, crate::http::submission::AttributeValue>>, example = json!({"driver": "Ana"}))]
    attributes: Map<String, Value>,
    /// What attached accessories sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = json!([{"name": "Hook", "state": "open"}]), max_items = 64)]
    accessories_attributes: Option<Vec<BTreeMap<String, String>>>,
    /// When it was received.
    #[schema(example = "2026-05-01T12:00:03Z", format = DateTime)]
    received_at: String,
    /// Whether it arrived long after it was taken; absent when not.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = true)]
    late: Option<bool>,
    /// Whether its time or place can hardly be right; absent when not. It never becomes the last location.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(example = true)]
    suspect: Option<bool>,
}

/// How a position was found.
#[derive(ToSchema)]
#[schema(as = FixSource, rename_all = "lowercase")]
pub enum FixSourceName {
    /// By satellite navigation, on the device.
    Gnss,
    /// By the network that carried the message.
    Network,
    /// By Doppler shift.
    Doppler,
    /// By hand.
    Manual,
}

/// Locations.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LocationList {
    /// The locations, in the order of their `dateTime`; with `fields`, only those members of them.
    #[schema(value_type = Vec<LocationPart>)]
    locations: Vec<LocationView>,
    /// Where to go on, when there is more.
    #[serde(skip_serializing_if = "Option::is_none")]
    next_cursor: Option<String>,
}

/// A location and whose it is.
#[derive(Debug)]
pub struct DeviceLocation;

impl PartialSchema for DeviceLocation {
    fn schema() -> RefOr<Schema> {
        let RefOr::T(Schema::Object(mut object)) = LocationView::schema() else {
            return LocationView::schema();
        };
        let id = ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("The id of the device."))
            .examples([json!("dev_01jc2m8k4n5p7")]);
        object.properties.insert("deviceId".to_owned(), id.into());
        object.required.push("deviceId".to_owned());
        object.description =
            Some("Where a device was, and which one. What was not sent is absent.".to_owned());
        RefOr::T(Schema::Object(object))
    }
}

impl ToSchema for DeviceLocation {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        LocationView::schemas(schemas);
    }
}

/// Last locations.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct DeviceLocationList {
    /// The last locations, by device id.
    #[schema(value_type = Vec<DeviceLocation>)]
    locations: Vec<DeviceLocation>,
    /// Where to go on, when there is more.
    #[schema(required = false, value_type = String)]
    next_cursor: Option<String>,
}

/// What has arrived.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct LocationFeed {
    /// The locations, in the order in which they arrived.
    #[schema(value_type = Vec<DeviceLocation>, max_items = 10000)]
    locations: Vec<DeviceLocation>,
    /// Where to go on, also when nothing has arrived.
    next_cursor: String,
}

/// Where a device is.
#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub struct LastLocation {
    /// The location with the newest `dateTime` among those that can be trusted.
    #[schema(value_type = LocationView)]
    pub(super) last_location: LocationView,
}

/// A location as it is sent: as it is answered, without what receiving it adds.
#[derive(Debug)]
pub struct LocationInput;

impl PartialSchema for LocationInput {
    fn schema() -> RefOr<Schema> {
        let schema = open_schema(
            LocationView::schema(),
            "Where a device was. A member not listed here is kept in `attributes` when it is a string, a number \
             or a boolean; an array or object nobody knows rejects the location. `milleage` is read as `mileage`.",
            &["receivedAt", "late", "suspect"],
            &["dateTime", "latitude", "longitude"],
        );
        take_whole_circle(schema)
    }
}

/// Lets `course` be 360, which is taken as 0.
fn take_whole_circle(mut schema: RefOr<Schema>) -> RefOr<Schema> {
    if let RefOr::T(Schema::Object(object)) = &mut schema
        && let Some(RefOr::T(Schema::Object(course))) = object.properties.get_mut("course")
    {
        course.maximum = course.exclusive_maximum.take();
    }
    schema
}

impl ToSchema for LocationInput {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        LocationView::schemas(schemas);
    }
}

/// A location, or those members of it that were asked for.
#[derive(Debug)]
pub struct LocationPart;

impl PartialSchema for LocationPart {
    fn schema() -> RefOr<Schema> {
        let RefOr::T(Schema::Object(mut object)) = LocationView::schema() else {
            return LocationView::schema();
        };
        object.required.clear();
        object.description = Some("Where a device was; with `fields`, only those members of it.".to_owned());
        RefOr::T(Schema::Object(object))
    }
}

impl ToSchema for LocationPart {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        LocationView::schemas(schemas);
    }
}

impl From<StoredLocation> for LocationView {
    fn from(stored: StoredLocation) -> Self {
        let location = stored.location;
        let readings = location.readings;
        let [sensor_time1, sensor_time2, sensor_time3, sensor_time4] =
            readings.sensor_time_s.map(|seconds| seconds.map(Thousandths::from));
        Self {
            date_time: location.time.to_string(),
            latitude: location.latitude.into(),
            longitude: location.longitude.into(),
            altitude: readings.altitude.map(Thousandths::from),
            speed: readings.speed.map(Thousandths::from),
            course: readings.course.map(Thousandths::from),
            accuracy: readings.accuracy.map(Thousandths::from),
            valid: readings.valid,
            satellites: readings.satellites,
            hdop: readings.hdop.map(Thousandths::from),
            battery: readings.battery.map(Thousandths::from),
            fuel: readings.fuel.map(Thousandths::from),
            fuel2: readings.fuel2.map(Thousandths::from),
            temperature: readings.temperature.map(Thousandths::from),
            temperature2: readings.temperature2.map(Thousandths::from),
            sensor_time1,
            sensor_time2,
            sensor_time3,
            sensor_time4,
            inactive_seconds: readings.inactive_s.map(Thousandths::from),
            rpm: readings.rpm.map(Thousandths::from),
            mileage: readings.mileage.map(Thousandths::from),
            milleage: readings.mileage.map(Thousandths::from),
            ignition: readings.ignition,
            inputs: readings.inputs,
            outputs: readings.outputs,
            warnings: readings.warnings,
            warning_texts: readings.warning_texts,
            alerts: readings.alerts,
            alert_texts: readings.alert_texts,
            has_critical_alert: readings.has_critical_alert,
            source: readings.source.map(FixSource::name),
            attributes: write_attributes(readings.attributes),
            accessories_attributes: readings.accessories,
            received_at: stored.received_at.to_string(),
            late: stored.trust.late.then_some(true),
            suspect: stored.trust.suspect.then_some(true),
        }
    }
}
