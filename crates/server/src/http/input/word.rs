//! Members that are one of a few words.

use std::marker::PhantomData;

use serde_json::Value;
use utoipa::openapi::schema::{ObjectBuilder, Type};
use utoipa::openapi::{Ref, RefOr, Schema};
use utoipa::{PartialSchema, ToSchema};

use super::kind::Member;
use super::schema::Schemas;
use crate::http::json::{Field, Fields};

/// A type whose values are written as words in JSON.
pub trait Words: Copy {
    /// The name of the schema in the document.
    const NAME: &'static str;
    /// The description of the schema in the document, with a clause for each word.
    const ABOUT: &'static str;

    /// The words, each with its value.
    fn words() -> Vec<(&'static str, Self)>;
}

/// One of the words of a type.
#[derive(Debug)]
pub struct Word<T>(PhantomData<T>);

impl<T: Words> Member for Word<T> {
    type Value = T;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, T> {
        fields.text(name).one_of(&T::words())
    }

    fn schema() -> RefOr<Schema> {
        RefOr::Ref(Ref::from_schema_name(T::NAME))
    }

    fn add_schemas(schemas: &mut Schemas) {
        schemas.push((T::NAME.to_owned(), <Self as PartialSchema>::schema()));
    }
}

impl<T: Words> PartialSchema for Word<T> {
    fn schema() -> RefOr<Schema> {
        let words = T::words().into_iter().map(|(word, _)| Value::from(word));
        ObjectBuilder::new()
            .schema_type(Type::String)
            .description(Some(T::ABOUT))
            .enum_values(Some(words))
            .into()
    }
}

impl<T: Words> ToSchema for Word<T> {
    fn name() -> std::borrow::Cow<'static, str> {
        T::NAME.into()
    }
}

/// Implements `Words` for types that have `ALL` and `name`, with the name and the description of the schema.
macro_rules! words {
    ($($name:literal, $about:expr => $kind:ty;)+) => {$(
        impl $crate::http::input::Words for $kind {
            const NAME: &'static str = $name;
            const ABOUT: &'static str = $about;

            fn words() -> Vec<(&'static str, Self)> {
                Self::ALL.iter().map(|word| (word.name(), *word)).collect()
            }
        }
    )+};
}

pub(crate) use words;
