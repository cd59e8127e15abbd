//! Kinds of members: how each is read, and how the document describes it.

use std::hash::Hash;
use std::marker::PhantomData;

use perigee_core::accounts::country::Country;
use perigee_core::day::Date;
use perigee_core::drivers::DriverTag;
use perigee_core::id::{DeviceId, GeofenceId, GroupId, SegmentId, UserId};
use perigee_core::text::{
    EMAIL_MAX, Email, Line, Lines, NAME_MAX, SHORT_MAX, TAG_KEY_MAX, TAG_VALUE_MAX, TAGS_MAX, Tags,
};
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use utoipa::ToSchema;
use utoipa::openapi::schema::{ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

use super::schema::{LINE, Schemas, any_line, array, formatted, id, line, lines, map, text, whole};
use super::statement::Input;
use crate::http::json::{Field, Fields, FromJson, InstantOrNever, MapLimits};

/// A kind of member.
pub trait Member {
    /// The type that the member is read as.
    type Value;

    /// Reads the member with this name, and records its problems.
    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Self::Value>;

    /// The schema of the member in the document.
    fn schema() -> RefOr<Schema>;

    /// Adds the named schemas that the member's schema refers to.
    fn add_schemas(_schemas: &mut Schemas) {}
}

impl<const LEAST: usize, const MOST: usize> Member for Line<LEAST, MOST> {
    type Value = String;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
        fields.text(name).chars(LEAST..=MOST)
    }

    fn schema() -> RefOr<Schema> {
        line(LEAST, MOST)
    }
}

impl<const LEAST: usize, const MOST: usize> Member for Lines<LEAST, MOST> {
    type Value = String;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, String> {
        fields.multiline_text(name).chars(LEAST..=MOST)
    }

    fn schema() -> RefOr<Schema> {
        lines(LEAST, MOST)
    }
}

/// Implements [`Member`] for types that are read by [`FromJson`].
macro_rules! plain {
    ($($kind:ty => $schema:expr;)+) => {$(
        impl Member for $kind {
            type Value = Self;

            fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Self> {
                fields.get(name)
            }

            fn schema() -> RefOr<Schema> {
                $schema
            }
        }
    )+};
}

plain! {
    bool => ObjectBuilder::new().schema_type(Type::Boolean).into();
    String => any_line();
    Date => formatted("date");
    Zone => text(1, SHORT_MAX, |text| text.pattern(Some("^[A-Za-z][A-Za-z0-9_+/-]*$")));
    Country => text(2, NAME_MAX, |text| text.pattern(Some(LINE)));
    DeviceId => id(Self::PREFIX);
    GroupId => id(Self::PREFIX);
    GeofenceId => id(Self::PREFIX);
    SegmentId => id(Self::PREFIX);
    UserId => id(Self::PREFIX);
    DriverTag => text(1, SHORT_MAX, |text| text.pattern(Some(LINE)));
}

/// An id that a client may also give as a name or an identifier; empty for none. A text that is not an id is replaced
/// before it is read, by [`resolve_names`](crate::http::names::resolve_names).
#[derive(Debug)]
pub struct ByName<T>(PhantomData<T>);

impl<T: FromJson> Member for ByName<T> {
    type Value = T;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, T> {
        fields.get(name)
    }

    fn schema() -> RefOr<Schema> {
        line(0, NAME_MAX)
    }
}

/// A whole number within bounds.
#[derive(Debug)]
pub enum Whole<const LEAST: u32, const MOST: u32> {}

impl<const LEAST: u32, const MOST: u32> Member for Whole<LEAST, MOST> {
    type Value = u32;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, u32> {
        fields.integer(name, LEAST..=MOST)
    }

    fn schema() -> RefOr<Schema> {
        whole(LEAST, MOST)
    }
}

/// A small whole number within bounds.
#[derive(Debug)]
pub enum WholeU8<const LEAST: u8, const MOST: u8> {}

impl<const LEAST: u8, const MOST: u8> Member for WholeU8<LEAST, MOST> {
    type Value = u8;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, u8> {
        fields.integer(name, LEAST..=MOST)
    }

    fn schema() -> RefOr<Schema> {
        whole(LEAST.into(), MOST.into())
    }
}

/// Declares kinds of text that are parsed, each with its schema and the end of the sentence that refuses any other
/// text.
macro_rules! parsed_kinds {
    ($($(#[doc = $doc:literal])* $visibility:vis $kind:ident => $value:ty, $must_be:expr, $schema:expr;)+) => {$(
        $(#[doc = $doc])*
        #[derive(Debug)]
        $visibility enum $kind {}

        impl $crate::http::input::Member for $kind {
            type Value = $value;

            fn read<'f, 'v>(
                fields: &'f mut $crate::http::json::Fields<'v>,
                name: &'static str,
            ) -> $crate::http::json::Field<'f, 'v, $value> {
                fields.parsed(name, $must_be)
            }

            fn schema() -> utoipa::openapi::RefOr<utoipa::openapi::Schema> {
                $schema
            }
        }
    )+};
}

pub(crate) use parsed_kinds;

parsed_kinds! {
    /// An e-mail address of at most 254 characters.
    pub EmailAddress => Email, "an e-mail address such as ana@example.com", {
        let format = SchemaFormat::Custom("email".to_owned());
        text(3, EMAIL_MAX, |text| text.format(Some(format)).pattern(Some(LINE)))
    };
}

/// A date and time. Without an offset it is in the zone in which the body is read.
#[derive(Debug)]
pub enum Instant {}

impl Member for Instant {
    type Value = Timestamp;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Timestamp> {
        fields.instant(name)
    }

    fn schema() -> RefOr<Schema> {
        formatted("date-time")
    }
}

impl Member for InstantOrNever {
    type Value = Self;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Self> {
        fields.when(name)
    }

    fn schema() -> RefOr<Schema> {
        formatted("date-time")
    }
}

/// Free labels, key to value.
#[derive(Debug)]
pub enum TagMap {}

impl Member for TagMap {
    type Value = Tags;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Tags> {
        let limits = MapLimits { entries: TAGS_MAX, key_chars: TAG_KEY_MAX, value_chars: TAG_VALUE_MAX };
        fields.string_map(name, limits)
    }

    fn schema() -> RefOr<Schema> {
        map(TAGS_MAX, (1, TAG_KEY_MAX), (0, TAG_VALUE_MAX))
    }
}

/// An array of this many items.
#[derive(Debug)]
pub struct List<T, const LEAST: usize, const MOST: usize>(PhantomData<T>);

impl<T: FromJson + Member, const LEAST: usize, const MOST: usize> Member for List<T, LEAST, MOST> {
    type Value = Vec<T>;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Vec<T>> {
        fields.array(name, LEAST..=MOST)
    }

    fn schema() -> RefOr<Schema> {
        array(T::schema(), LEAST, MOST, false)
    }

    fn add_schemas(schemas: &mut Schemas) {
        T::add_schemas(schemas);
    }
}

/// An array of this many items, none of them twice.
#[derive(Debug)]
pub struct Set<T, const LEAST: usize, const MOST: usize>(PhantomData<T>);

impl<T: FromJson + Member + Eq + Hash, const LEAST: usize, const MOST: usize> Member for Set<T, LEAST, MOST> {
    type Value = Vec<T>;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Vec<T>> {
        fields.array(name, LEAST..=MOST).unique()
    }

    fn schema() -> RefOr<Schema> {
        array(T::schema(), LEAST, MOST, true)
    }

    fn add_schemas(schemas: &mut Schemas) {
        T::add_schemas(schemas);
    }
}

/// An object inside another.
pub trait Part: Input + ToSchema {
    /// The value that the object is converted to.
    type Value;

    /// Checks the rules between its members and builds the value; `None` if a problem was recorded.
    fn make(self, fields: &mut Fields<'_>) -> Option<Self::Value>;
}

fn reference<T: ToSchema>() -> RefOr<Schema> {
    RefOr::Ref(Ref::from_schema_name(T::name()))
}

fn add<T: ToSchema>(schemas: &mut Schemas) {
    schemas.push((T::name().into_owned(), T::schema()));
    T::schemas(schemas);
}

/// An object with declared members.
#[derive(Debug)]
pub struct Object<T>(PhantomData<T>);

impl<T: Part> Member for Object<T> {
    type Value = T::Value;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, T::Value> {
        fields.object(name, |inner| T::read(inner).make(inner))
    }

    fn schema() -> RefOr<Schema> {
        reference::<T>()
    }

    fn add_schemas(schemas: &mut Schemas) {
        add::<T>(schemas);
    }
}

/// An array of this many objects with declared members.
#[derive(Debug)]
pub struct Objects<T, const LEAST: usize, const MOST: usize>(PhantomData<T>);

impl<T: Part, const LEAST: usize, const MOST: usize> Member for Objects<T, LEAST, MOST> {
    type Value = Vec<T::Value>;

    fn read<'f, 'v>(fields: &'f mut Fields<'v>, name: &'static str) -> Field<'f, 'v, Vec<T::Value>> {
        fields.objects(name, LEAST..=MOST, |inner| T::read(inner).make(inner))
    }

    fn schema() -> RefOr<Schema> {
        array(reference::<T>(), LEAST, MOST, false)
    }

    fn add_schemas(schemas: &mut Schemas) {
        add::<T>(schemas);
    }
}
