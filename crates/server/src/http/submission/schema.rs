//! How the document describes items: by what is answered, open to members nobody knows.

use perigee_core::location::Location;
use utoipa::openapi::schema::{AdditionalProperties, SchemaType, Type};
use utoipa::openapi::{ObjectBuilder, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

/// The value of an attribute: a string, a number or a boolean.
#[derive(Debug)]
pub struct AttributeValue;

fn scalar(types: &[Type]) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::Array(types.to_vec()))
        .max_length(Some(Location::TEXT_MAX))
        .into()
}

impl PartialSchema for AttributeValue {
    fn schema() -> RefOr<Schema> {
        scalar(&[Type::String, Type::Number, Type::Boolean])
    }
}

impl ToSchema for AttributeValue {}

/// A member that need not be there may be null as well.
fn allow_null(property: &mut RefOr<Schema>) {
    if let RefOr::T(Schema::Object(object)) = property
        && let SchemaType::Type(kind) = &object.schema_type
    {
        object.schema_type = SchemaType::from_iter([kind.clone(), Type::Null]);
    }
}

/// The schema of an item as it is sent, made from the one as it is answered: without what receiving it adds,
/// and with any further members that can be kept.
pub fn open_schema(
    answered: RefOr<Schema>,
    description: &str,
    added: &[&str],
    required: &[&str],
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
    object.required = required.iter().map(|name| (*name).to_owned()).collect();
    object.description = Some(description.to_owned());
    let further = scalar(&[Type::String, Type::Number, Type::Boolean, Type::Null]);
    object.additional_properties = Some(Box::new(AdditionalProperties::RefOr(further)));
    RefOr::T(Schema::Object(object))
}
