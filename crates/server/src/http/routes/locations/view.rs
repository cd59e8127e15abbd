//! A location as the document describes it; it is written by [`crate::http::format`].

use std::borrow::Cow;

use perigee_core::location::{Field, FixSource, Kind, Location, MILEAGE_ALIAS, Milli, Reading};
use perigee_core::text::{TAG_KEY_MAX, TAGS_MAX};
use serde_json::{Value, json};
use utoipa::openapi::schema::{ArrayBuilder, KnownFormat, RefBuilder, SchemaFormat, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, OneOfBuilder, Ref, RefOr, Schema};
use utoipa::{Number, PartialSchema, ToSchema};

use crate::http::input::LINE;
use crate::http::submission::{AttributeValue, open_schema};

/// The member with the position in words.
const PLACE: &str = "place";

/// A location as it is answered, described from the table of readings.
#[derive(Debug)]
pub struct LocationView;

impl PartialSchema for LocationView {
    fn schema() -> RefOr<Schema> {
        let mut location = ObjectBuilder::new()
            .description(Some("Where a device was. What was not sent is absent."))
            .property(Field::DateTime.name(), instant("When the fix was taken.", "2026-05-01T12:00:00Z"))
            .property(
                Field::Latitude.name(),
                degrees("Degrees north (WGS 84), to the seventh decimal.", 42.2406, 90),
            )
            .property(
                Field::Longitude.name(),
                degrees("Degrees east (WGS 84), to the seventh decimal.", -8.7207, 180),
            );
        for reading in Reading::ALL {
            location = location.property(reading.field.name(), describe(reading, reading.description));
            if reading.field == Field::Mileage {
                let alias = "The same as `mileage`, under the spelling that clients of older systems use.";
                location = location.property(MILEAGE_ALIAS, describe(reading, alias));
            }
        }
        let suspect = "Whether its time or place can hardly be right; absent when not. \
                       It never becomes the last location.";
        location = location
            .property(Field::ReceivedAt.name(), instant("When it was received.", "2026-05-01T12:00:03Z"))
            .property(
                Field::Late.name(),
                flag("Whether it arrived long after it was taken; absent when not.", json!(true)),
            )
            .property(Field::Suspect.name(), flag(suspect, json!(true)))
            .property(PLACE, {
                let about = "Where it is, in words; only with `place=true`.";
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

/// A reading, which may be absent.
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

/// How a position was found.
#[derive(Debug)]
pub struct FixSourceName;

impl PartialSchema for FixSourceName {
    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some("How a position was found."))
            .enum_values(Some(FixSource::ALL.map(FixSource::name)))
            .into()
    }
}

impl ToSchema for FixSourceName {
    fn name() -> Cow<'static, str> {
        "FixSource".into()
    }
}

/// Locations.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct LocationList {
    /// The locations, in the order of their `dateTime`; with `fields`, only those members of them.
    #[schema(value_type = Vec<LocationPart>)]
    locations: Vec<LocationView>,
    /// Where to continue, when there is more.
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
    /// Where to continue, when there is more.
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
    /// Where to continue, also when nothing has arrived.
    next_cursor: String,
}

/// Where a device is.
#[derive(ToSchema)]
#[schema(rename_all = "camelCase")]
#[expect(dead_code, reason = "describes what is written")]
pub struct LastLocation {
    /// The location with the newest `dateTime` among those that can be trusted.
    #[schema(value_type = LocationView)]
    last_location: LocationView,
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
            &[&Field::READ_ONLY.map(Field::name)[..], &[PLACE]].concat(),
            &[Field::DateTime, Field::Latitude, Field::Longitude].map(Field::name),
            &[],
        );
        take_whole_circle(schema)
    }
}

/// Lets `course` be 360, which is taken as 0.
fn take_whole_circle(mut schema: RefOr<Schema>) -> RefOr<Schema> {
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
