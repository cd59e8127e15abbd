//! Decoding settings of a device: the reader and the schema follow from `DEVICE_OPTIONS` of the gateways crate.

use perigee_core::gateways::decoding::Decoding;
use perigee_gateways::{DEVICE_OPTIONS, OptionKind, read_decoding};
use utoipa::openapi::schema::{AdditionalProperties, ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::Member;
use crate::http::json::{Field, Fields, Problem};

/// The decoding settings of a device, by name. A setting that is null is not set.
pub(super) enum DecodingInput {}

impl Member for DecodingInput {
    type Value = Decoding;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Decoding> {
        let members = fields.raw(name).convert(|value| Ok(value.as_object().ok_or("must be an object")?));
        members.convert_within(|members| {
            read_decoding(members).map_err(|errors| errors.iter().map(Problem::of_setting).collect())
        })
    }

    fn schema() -> RefOr<Schema> {
        decoding_schema(true)
    }
}

/// Description of `decoding` in answers. A request has the comment of its member instead.
const DESCRIPTION: &str = "Decoding settings: how messages of the device are decoded and its commands are encoded, where the \
    device differs from others of its protocol. Only settings that were set are present.";

/// The schema of the settings, without other members. `nullable` allows null for each of them, as in a request.
pub(super) fn decoding_schema(nullable: bool) -> RefOr<Schema> {
    let mut object = ObjectBuilder::new().schema_type(Type::Object).description(Some(DESCRIPTION));
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
            OptionKind::Word(words) => {
                let null = nullable.then_some(serde_json::Value::Null);
                let words = words.iter().map(|word| serde_json::Value::from(*word));
                (Type::String, ObjectBuilder::new().enum_values(Some(words.chain(null))))
            }
            OptionKind::Format => {
                let parameter = "(0?[1-9a-dA-D]|1[459abAB])";
                let pattern = format!("^{parameter}(,{parameter}){{0,63}}$");
                (Type::String, ObjectBuilder::new().pattern(Some(pattern)))
            }
            OptionKind::Template => {
                let anything = AdditionalProperties::<Schema>::FreeForm(true);
                (Type::Object, ObjectBuilder::new().additional_properties(Some(anything)))
            }
        };
        let value = if nullable {
            value.schema_type(utoipa::openapi::schema::SchemaType::from_iter([kind, Type::Null]))
        } else {
            value.schema_type(kind)
        };
        let protocols = option.protocols.join(", ");
        let value = value
            .description(Some(format!("{} Used by the protocols and feeds {protocols}.", option.meaning)));
        object = object.property(option.name, value);
    }
    let mut object =
        object.additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false))).build();
    object.example = Some(serde_json::json!({"timeZoneMinutes": 480}));
    object.into()
}
