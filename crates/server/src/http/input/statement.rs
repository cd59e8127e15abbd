//! The macro that declares the members of a body, and the functions that read a body with them.

use serde_json::Value;

use crate::http::error::{ApiResult, invalid_body};
use crate::http::json::Fields;

/// An object whose members are declared by `input!`.
pub trait Input: Sized {
    /// Reads every member, and records the problems.
    fn read(fields: &mut Fields<'_>) -> Self;
}

/// Reads a body. Members of the `ignored` lists are accepted and have no effect. `make` checks the rules between
/// members and builds the result; it returns `None` if a required member is missing, which is recorded already.
pub fn read_body<I: Input, T>(
    body: &Value,
    ignored: &[&[&'static str]],
    make: impl FnOnce(I, &mut Fields<'_>) -> Option<T>,
) -> ApiResult<T> {
    read_fields(Fields::of(body).map_err(invalid_body)?, ignored, make)
}

/// Reads the members of a body as [`read_body`] does.
pub fn read_fields<I: Input, T>(
    mut fields: Fields<'_>,
    ignored: &[&[&'static str]],
    make: impl FnOnce(I, &mut Fields<'_>) -> Option<T>,
) -> ApiResult<T> {
    for names in ignored {
        fields.ignore(names);
    }
    let input = I::read(&mut fields);
    let result = make(input, &mut fields);
    fields.finish(|| result).map_err(invalid_body)
}

/// Declares the members of a body, or of an object in it. See the documentation of this module.
macro_rules! input {
    (
        $(#[doc = $about:literal])*
        $(#[example($whole:tt)])?
        $visibility:vis struct $input:ident {
            $(
                $(#[doc = $doc:literal])*
                $field:ident $(as $wire:literal)? : $kind:ty, $end:ident $(($default:expr))? $(, example $example:tt)?;
            )+
        }
    ) => {
        $(#[doc = $about])*
        $visibility struct $input {
            $(
                $(#[doc = $doc])*
                $visibility $field: $crate::http::input::input!(@value $end $kind),
            )+
        }

        impl $crate::http::input::Input for $input {
            fn read(fields: &mut $crate::http::json::Fields<'_>) -> Self {
                Self {
                    $(
                        $field: <$kind as $crate::http::input::Member>::read(
                            fields,
                            $crate::http::input::input!(@name $field $($wire)?),
                        )
                        .$end($($default)?),
                    )+
                }
            }
        }

        impl utoipa::PartialSchema for $input {
            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                let mut object = $crate::http::input::ObjectSchema::new(&[$($about),*]);
                $(
                    object.$end(
                        $crate::http::input::Property {
                            name: $crate::http::input::input!(@name $field $($wire)?),
                            comment: &[$($doc),*],
                            schema: <$kind as $crate::http::input::Member>::schema(),
                            example: None $(.or(Some(serde_json::json!($example))))?,
                        }
                        $(, serde_json::json!($default))?
                    );
                )+
                $(object.example(serde_json::json!($whole));)?
                object.build()
            }
        }

        impl utoipa::ToSchema for $input {
            fn schemas(schemas: &mut $crate::http::input::Schemas) {
                $(<$kind as $crate::http::input::Member>::add_schemas(schemas);)+
            }
        }
    };
    (@name $field:ident) => { stringify!($field) };
    (@name $field:ident $wire:literal) => { $wire };
    (@value or $kind:ty) => { <$kind as $crate::http::input::Member>::Value };
    (@value $end:ident $kind:ty) => { Option<<$kind as $crate::http::input::Member>::Value> };
}

pub(crate) use input;
