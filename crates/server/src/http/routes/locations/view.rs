//! A location as the document describes it; it is written by [`crate::http::format`].

use std::borrow::Cow;

use perigee_core::locations::location::{Field, FixSource, Kind, Location, MILEAGE_ALIAS, Milli, Reading};
use perigee_core::text::{TAG_KEY_MAX, TAGS_MAX};
use serde_json::{Value, json};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, RefBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema};
use utoipa::{Number, PartialSchema, ToSchema};

use crate::http::input::LINE;
use crate::http::submission::{AttributeValue, open_schema};

/// Descriptions of members that are not readings.
const FIX_TIME: &str = "Time at which the position was measured, by the clock of the device.";
const LATITUDE: &str = "Latitude, in degrees north (WGS 84). Rounded to seven decimals.";
const LONGITUDE: &str = "Longitude, in degrees east (WGS 84). Rounded to seven decimals.";
const RECEIVED_AT: &str = "Time at which the server received the location.";
const LATE: &str = "`true` if the location was received more than ten minutes after `dateTime`, set by the server; absent otherwise.";
/// The member with the place, in words.
const PLACE: &str = "place";

/// A location as it is answered, described from the table of readings.
#[derive(Debug)]
pub struct LocationView;

impl PartialSchema for LocationView {
    fn schema() -> RefOr<Schema> {
        let suspect = "`true` if time or position of the location is implausible, set by the server; absent otherwise. A suspect location never \
                       becomes the last location.";
        let mut location = with_readings("Absent if the device did not report it.")
            .description(Some("Stored report of a device: position, time and readings. A reading that the device did not report is absent."))
            .property(Field::ReceivedAt.name(), instant(RECEIVED_AT, "2026-05-01T12:00:03Z"))
            .property(
                Field::Late.name(),
                flag(LATE, json!(true)),
            )
            .property(Field::Suspect.name(), flag(suspect, json!(true)))
            .property(PLACE, {
                let about = "Place of the location, in words. Present only with `place=true`, and if the position can be described.";
                property(Type::String, about, json!("22 km SW of Vigo, Spain"), |property| property)
            });
        for field in [Field::DateTime, Field::Latitude, Field::Longitude, Field::ReceivedAt] {
            location = location.required(field.name());
        }
        location.into()
    }
}

impl ToSchema for LocationView {
    fn name() -> Cow<'static, str> {
        "Location".into()
    }

    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        schemas.push((FixSourceName::name().into(), FixSourceName::schema()));
        schemas.push((AttributeValue::name().into(), AttributeValue::schema()));
    }
}

fn instant(description: &str, example: &str) -> RefOr<Schema> {
    property(Type::String, description, json!(example), |property| {
        property.format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
    })
}

fn degrees(description: &str, example: f64, most: isize) -> RefOr<Schema> {
    property(Type::Number, description, json!(example), |property| {
        let property = property.format(Some(SchemaFormat::KnownFormat(KnownFormat::Double)));
        property.minimum(Some(-most)).maximum(Some(most))
    })
}

fn flag(description: &str, example: Value) -> RefOr<Schema> {
    property(or_null(Type::Boolean), description, example, |property| property)
}

fn number(reading: &Reading, description: &str, kind: Type, format: KnownFormat) -> RefOr<Schema> {
    let (least, most) = (limit(reading.bounds.least), limit(reading.bounds.most));
    property(or_null(kind), description, example(reading), |property| {
        let property = property.format(Some(SchemaFormat::KnownFormat(format))).minimum(Some(least));
        if reading.bounds.is_circle {
            property.exclusive_maximum(Some(most))
        } else {
            property.maximum(Some(most))
        }
    })
}

fn list(reading: &Reading, description: &str, items: ObjectBuilder) -> RefOr<Schema> {
    let mut list = ArrayBuilder::new()
        .schema_type(or_null(Type::Array))
        .items(items)
        .description(Some(description))
        .max_items(Some(Location::LIST_MAX))
        .build();
    list.example = Some(example(reading));
    RefOr::T(Schema::Array(list))
}

/// Time, position and readings of a location. `absence` is the sentence about a reading that is left out.
fn with_readings(absence: &str) -> ObjectBuilder {
    let mut location = ObjectBuilder::new()
        .property(Field::DateTime.name(), instant(FIX_TIME, "2026-05-01T12:00:00Z"))
        .property(Field::Latitude.name(), degrees(LATITUDE, 42.2406, 90))
        .property(Field::Longitude.name(), degrees(LONGITUDE, -8.7207, 180));
    for reading in Reading::ALL {
        let described = |description: &str| describe(reading, &format!("{description} {absence}"));
        location = location.property(reading.field.name(), described(reading.description));
        if reading.field == Field::Mileage {
            let alias = "Same value as `mileage`, for clients that use this spelling.";
            location = location.property(MILEAGE_ALIAS, described(alias));
        }
    }
    location
}

/// The schema of a reading, which may be absent or null.
fn describe(reading: &Reading, description: &str) -> RefOr<Schema> {
    let plain = |kind| ObjectBuilder::new().schema_type(kind);
    match reading.kind {
        Kind::Number => number(reading, description, Type::Number, KnownFormat::Double),
        Kind::Count => number(reading, description, Type::Integer, KnownFormat::Int32),
        Kind::Flag => flag(description, example(reading)),
        Kind::Source => {
            let source = RefBuilder::new().ref_location_from_schema_name(FixSourceName::name());
            let source = source.description(Some(description));
            OneOfBuilder::new().item(source).item(plain(Type::Null)).into()
        }
        Kind::Flags => list(reading, description, plain(Type::Boolean)),
        Kind::Texts => {
            let text = plain(Type::String).pattern(Some(LINE)).max_length(Some(Location::TEXT_MAX));
            list(reading, description, text)
        }
        Kind::Attributes => {
            let value: RefOr<Schema> = Ref::from_schema_name(AttributeValue::name()).into();
            property(or_null(Type::Object), description, example(reading), |property| {
                property.additional_properties(Some(value)).property_names(Some(plain(Type::String)))
            })
        }
        Kind::Accessories => {
            let value: RefOr<Schema> = plain(Type::String).max_length(Some(Location::TEXT_MAX)).into();
            let key = plain(Type::String).pattern(Some(r"\S")).max_length(Some(TAG_KEY_MAX));
            let accessory = plain(Type::Object).additional_properties(Some(value)).property_names(Some(key));
            list(reading, description, accessory.max_properties(Some(TAGS_MAX)))
        }
    }
}

fn property(
    kind: impl Into<SchemaType>,
    description: &str,
    example: Value,
    with: impl FnOnce(ObjectBuilder) -> ObjectBuilder,
) -> RefOr<Schema> {
    let property = ObjectBuilder::new().schema_type(kind).description(Some(description));
    let mut property = with(property).build();
    property.example = Some(example);
    RefOr::T(Schema::Object(property))
}

fn or_null(kind: Type) -> SchemaType {
    SchemaType::from_iter([kind, Type::Null])
}

fn example(reading: &Reading) -> Value {
    serde_json::from_str(reading.example).unwrap_or_default()
}

/// A bound, as an integer where it is one.
fn limit(bound: Milli) -> Number {
    let units = bound.as_thousandths();
    match isize::try_from(units / 1000) {
        Ok(whole) if units % 1000 == 0 => Number::Int(whole),
        _ => Number::Float(bound.as_f64()),
    }
}

/// The method by which a position was determined.
#[derive(Debug)]
pub struct FixSourceName;

impl PartialSchema for FixSourceName {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(
                "Method by which a position was determined: `gnss`, by satellite navigation on the device; `network`, by the \
                 network that carried the message; `doppler`, by the Doppler shift of a satellite's signal; `manual`, \
                 entered by a person.",
            ))
            .enum_values(Some(FixSource::ALL.map(FixSource::name)))
            .into()
    }
}

impl ToSchema for FixSourceName {
    fn name() -> Cow<'static, str> {
        "FixSource".into()
    }
}

/// Locations of a device.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct LocationList {
    /// Locations of the device, sorted by `dateTime` in the requested order. With `fields`, they have only the given
    /// members.
    #[schema(value_type = Vec<LocationPart>)]
    locations: Vec<LocationView>,
    /// Cursor of the next page. Absent on the last page.
    next_cursor: Option<String>,
}

/// A location with the ID of its device.
#[derive(Debug)]
pub struct DeviceLocation;

impl PartialSchema for DeviceLocation {
    fn schema() -> RefOr<Schema> {
        let RefOr::T(Schema::Object(mut object)) = LocationView::schema() else {
            return LocationView::schema();
        };
        let id = ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("ID of the device that reported the location."))
            .examples([json!("dev_01jc2m8k4n5p7")]);
        object.properties.insert("deviceId".to_owned(), id.into());
        object.required.push("deviceId".to_owned());
        object.description =
            Some("Stored report of a device: position, time and readings, with the ID of the device. A reading that the device did not report is absent.".to_owned());
        RefOr::T(Schema::Object(object))
    }
}

impl ToSchema for DeviceLocation {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        LocationView::schemas(schemas);
    }
}

/// Last locations of devices.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct DeviceLocationList {
    /// Last locations of the devices that the caller may see, sorted by device ID.
    #[schema(value_type = Vec<DeviceLocation>)]
    locations: Vec<DeviceLocation>,
    /// Cursor of the next page. Absent on the last page.
    #[schema(required = false, value_type = String)]
    next_cursor: Option<String>,
}

/// Locations in order of arrival.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct LocationFeed {
    /// Locations in the order in which the server received them. Empty if there are none after the cursor.
    #[schema(value_type = Vec<DeviceLocation>, max_items = 10000)]
    locations: Vec<DeviceLocation>,
    /// Cursor to continue from. Present in every answer, even if there are no locations.
    next_cursor: String,
}

/// Last location of a device.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct LastLocation {
    /// Location with the newest `dateTime` that is not suspect.
    #[schema(value_type = LocationView)]
    last_location: LocationView,
}

/// A location as a client submits it: without the members that the server sets.
#[derive(Debug)]
pub struct LocationInput;

impl PartialSchema for LocationInput {
    fn schema() -> RefOr<Schema> {
        let schema = open_schema(
            with_readings("Optional.").into(),
            "Report of a device to be stored. An unknown member is stored in `attributes` if it is a string, a number or a \
             boolean; a location with an unknown array or object is rejected. All texts of a location together have at \
             most 16384 bytes. `milleage` is read as `mileage`.",
            &[],
            &[Field::DateTime, Field::Latitude, Field::Longitude].map(Field::name),
            &[],
        );
        allow_full_circle(schema)
    }
}

/// Allows 360 for `course`, which is stored as 0.
fn allow_full_circle(mut schema: RefOr<Schema>) -> RefOr<Schema> {
    if let RefOr::T(Schema::Object(object)) = &mut schema
        && let Some(RefOr::T(Schema::Object(course))) = object.properties.get_mut(Field::Course.name())
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

/// A location, or the members of it that `fields` names.
#[derive(Debug)]
pub struct LocationPart;

impl PartialSchema for LocationPart {
    fn schema() -> RefOr<Schema> {
        let RefOr::T(Schema::Object(mut object)) = LocationView::schema() else {
            return LocationView::schema();
        };
        object.required.clear();
        object.description = Some("Stored report of a device: position, time and readings. With `fields`, only the given members are present.".to_owned());
        RefOr::T(Schema::Object(object))
    }
}

impl ToSchema for LocationPart {
    fn schemas(schemas: &mut Vec<(String, RefOr<Schema>)>) {
        LocationView::schemas(schemas);
    }
}
