//! Positions in the body of a map to copy.

use serde_json::Value;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{RefOr, Schema};

use crate::http::input::{Member, array};
use crate::http::json::{Field, Fields, FromJson, Refusal};

/// A longitude or a latitude, in degrees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Degrees(pub(super) f64);

/// A longitude and a latitude, in degrees.
#[derive(Clone, Copy, Debug)]
pub(super) struct Vertex(pub(super) [f64; 2]);

impl FromJson for Degrees {
    fn from_json(value: &Value) -> Result<Self, Refusal> {
        let number = value.as_f64().filter(|number| (-180.0..=180.0).contains(number));
        number.map(Self).ok_or_else(|| "must be a number of degrees between -180 and 180".into())
    }
}

impl FromJson for Vertex {
    fn from_json(value: &Value) -> Result<Self, Refusal> {
        let wrong = || "must be an array of a longitude and a latitude, in degrees".into();
        let [longitude, latitude] = value.as_array().map(Vec::as_slice).unwrap_or_default() else {
            return Err(wrong());
        };
        let (Degrees(longitude), Degrees(latitude)) =
            (Degrees::from_json(longitude)?, Degrees::from_json(latitude)?);
        if latitude.abs() > 90.0 {
            return Err(wrong());
        }
        Ok(Self([longitude, latitude]))
    }
}

impl Member for Degrees {
    type Value = Self;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Self> {
        fields.get(name)
    }

    fn schema() -> RefOr<Schema> {
        ObjectBuilder::new().schema_type(Type::Number).minimum(Some(-180)).maximum(Some(180)).into()
    }
}

impl Member for Vertex {
    type Value = Self;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Self> {
        fields.get(name)
    }

    fn schema() -> RefOr<Schema> {
        array(Degrees::schema(), 2, 2, false)
    }
}
