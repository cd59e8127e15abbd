//! Schemas of submitted items, made from those of answers and open to unknown members.

use perigee_core::locations::location::Location;
use perigee_core::text::SHORT_MAX;
use utoipa::openapi::schema::{AdditionalProperties, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use crate::http::input::FULL_LINE;

/// The value of an attribute: a string, a number or a boolean.
#[derive(Debug)]
pub struct AttributeValue;

fn scalar(types: &[Type]) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::Array(types.to_vec()))
        .max_length(Some(Location::TEXT_MAX))
        .description(Some(
            "Value of an attribute: a string of at most 1000 characters, a number or a boolean.",
        ))
        .into()
}

impl PartialSchema for AttributeValue {
    fn schema() -> RefOr<Schema> {
        scalar(&[Type::String, Type::Number, Type::Boolean])
    }
}

impl ToSchema for AttributeValue {}

/// The name of an attribute.
fn attribute_name() -> Schema {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(FULL_LINE)).max_length(Some(SHORT_MAX)).into()
}

/// An optional member may also be null.
fn allow_null(property: &mut RefOr<Schema>) {
    if let RefOr::T(Schema::Object(object)) = property
        && let SchemaType::Type(kind) = &object.schema_type
    {
        object.schema_type = SchemaType::from_iter([kind.clone(), Type::Null]);
    }
}

/// The schema of a submitted item, made from that of the answered one: without members the server adds, and with
/// unknown members, which become attributes. `patterns` are those of its texts.
pub fn open_schema(
    answered: RefOr<Schema>,
    description: &str,
    added: &[&str],
    required: &[&str],
    patterns: &[(&str, &str)],
) -> RefOr<Schema> {
    let RefOr::T(Schema::Object(mut object)) = answered else { return answered };
    for name in added {
        object.properties.shift_remove(*name);
    }
    for (name, property) in &mut object.properties {
        if !required.contains(&name.as_str()) {
            allow_null(property);
        }
    }
    for (name, pattern) in patterns {
        if let Some(RefOr::T(Schema::Object(text))) = object.properties.get_mut(*name) {
            text.pattern = Some((*pattern).to_owned());
        }
    }
    if let Some(RefOr::T(Schema::Object(attributes))) = object.properties.get_mut("attributes") {
        attributes.property_names = Some(Box::new(attribute_name()));
        attributes.max_properties = Some(Location::ATTRIBUTES_MAX);
    }
    object.required = required.iter().map(|name| (*name).to_owned()).collect();
    object.description = Some(description.to_owned());
    let further = scalar(&[Type::String, Type::Number, Type::Boolean, Type::Null]);
    object.additional_properties = Some(Box::new(AdditionalProperties::RefOr(further)));
    object.property_names = Some(Box::new(attribute_name()));
    RefOr::T(Schema::Object(object))
}
