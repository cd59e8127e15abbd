//! How messages of a device are read, as a client sets it: reader and schema follow from the options that gateways know.

use perigee_core::decoding::Decoding;
use perigee_gateways::{DEVICE_OPTIONS, OptionKind, find_option};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::Member;
use crate::http::json::{Field, Fields};

/// The settings of a device for decoding, by their names. A setting that is null is not set.
pub(super) enum DecodingInput {}

impl Member for DecodingInput {
    type Value = Decoding;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Decoding> {
        fields.raw(name).convert(|value| {
            let members = value.as_object().ok_or("must be an object")?;
            let mut decoding = Decoding::new();
            for (name, value) in members.iter().filter(|(_, value)| !value.is_null()) {
                let option = find_option(name).ok_or_else(|| {
                    let names: Vec<&str> = DEVICE_OPTIONS.iter().map(|option| option.name).collect();
                    format!("has no option {name:?}; there are {}", names.join(", "))
                })?;
                let read =
                    option.read(value).map_err(|problem| format!("is not usable: \"{name}\" {problem}"))?;
                decoding.insert(name.clone(), read);
            }
            Ok(decoding)
        })
    }

    fn schema() -> RefOr<Schema> {
        decoding_schema(true)
    }
}

/// The schema of the settings: closed, with the values that each takes, or null where a client may write so.
pub(super) fn decoding_schema(nullable: bool) -> RefOr<Schema> {
    let mut object = ObjectBuilder::new().schema_type(Type::Object);
    for option in DEVICE_OPTIONS {
        let (kind, value) = match option.kind {
            OptionKind::Flag => (Type::Boolean, ObjectBuilder::new()),
            OptionKind::Whole(least, most) => {
                (Type::Integer, ObjectBuilder::new().minimum(Some(least)).maximum(Some(most)))
            }
            OptionKind::Text(most) => {
                let pattern = r"^[^\u0000-\u001f\u007f-\u009f]*$";
                let text = ObjectBuilder::new().min_length(Some(1)).max_length(Some(most));
                (Type::String, text.pattern(Some(pattern)))
            }
        };
        let value = if nullable {
            value.schema_type(utoipa::openapi::schema::SchemaType::from_iter([kind, Type::Null]))
        } else {
            value.schema_type(kind)
        };
        let protocols = option.protocols.join(", ");
        let value = value.description(Some(format!("{} Protocols: {protocols}.", option.meaning)));
        object = object.property(option.name, value);
    }
    object.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false))).into()
}
