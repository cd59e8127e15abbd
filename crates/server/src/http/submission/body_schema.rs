//! How the document describes a submission: the layouts that [`ItemKind`] reads.

use utoipa::openapi::schema::{
    AdditionalProperties, AnyOfBuilder, ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, SchemaType,
    Type,
};
use utoipa::openapi::{Object, Ref, RefOr, Schema};

use super::item_kind::{ItemKind, RANGE_ENDS};
use crate::http::input::{Schemas, array};

/// Texts and names for the schema besides the layouts of [`ItemKind`].
#[derive(Debug)]
pub struct BodySchema {
    /// The name of the schema of an item.
    pub item: &'static str,
    /// A time range alone, as it is read.
    pub range: fn() -> RefOr<Schema>,
    /// Whether a time range beside items is answered too; it is ignored otherwise.
    pub answers_range_beside_items: bool,
}

impl BodySchema {
    /// Any of the layouts.
    pub fn schema<T>(&self, kind: &ItemKind<T>) -> RefOr<Schema> {
        let named = Names::of(kind);
        let item = || RefOr::from(Ref::from_schema_name(self.item));
        let body = AnyOfBuilder::new()
            .description(Some(format!(
                "{} to store, or a time range whose stored {} are returned.",
                capital(kind.many),
                kind.many
            )))
            .item(item())
            .item(array(item(), 1, kind.most, false))
            .item(Ref::from_schema_name(named.many))
            .item(Ref::from_schema_name(named.one))
            .item(Ref::from_schema_name(named.range));
        RefOr::T(Schema::AnyOf(body.build()))
    }

    /// The schemas that [`BodySchema::schema`] refers to, except that of the item.
    pub fn schemas<T>(&self, kind: &ItemKind<T>) -> Schemas {
        let named = Names::of(kind);
        let item = || RefOr::from(Ref::from_schema_name(self.item));
        let several = self.wrapped((kind.many, array(item(), 1, kind.most, false)), (kind.one, no_item()));
        vec![
            (named.many, several),
            (named.one, self.wrapped((kind.one, item()), (kind.many, no_items()))),
            (named.range, self.range_alone(kind)),
        ]
    }

    /// Items in a member, with the members that are accepted beside them; `other` may only be empty.
    fn wrapped(
        &self,
        (member, mut items): (&str, RefOr<Schema>),
        (other, empty): (&str, RefOr<Schema>),
    ) -> RefOr<Schema> {
        let about = format!("{} to store.", capital(member));
        match &mut items {
            RefOr::Ref(reference) => reference.description = about,
            RefOr::T(Schema::Array(array)) => array.description = Some(about),
            RefOr::T(_) => {}
        }
        let description = if self.answers_range_beside_items {
            format!(
                "Stores `{member}`. With `from` and `to`, the answer also has the stored items of this time range."
            )
        } else {
            format!("Stores `{member}`. `from` and `to` are ignored.")
        };
        let mut object = closed(description);
        object.properties.insert(member.to_owned(), items);
        object.required.push(member.to_owned());
        object.properties.insert(other.to_owned(), empty);
        if let (true, RefOr::T(Schema::Object(range))) = (self.answers_range_beside_items, (self.range)()) {
            let optional = range.properties.into_iter().map(|(name, schema)| (name, or_null(schema)));
            object.properties.extend(optional);
        } else {
            let ignored: RefOr<Schema> = ObjectBuilder::new()
                .schema_type(SchemaType::AnyValue)
                .description(Some("Ignored in this request."))
                .into();
            object.properties.extend(RANGE_ENDS.map(|name| (name.to_owned(), ignored.clone())));
        }
        RefOr::T(Schema::Object(object))
    }

    /// A time range, beside which items may be null or empty.
    fn range_alone<T>(&self, kind: &ItemKind<T>) -> RefOr<Schema> {
        let mut range = (self.range)();
        if let RefOr::T(Schema::Object(object)) = &mut range {
            if let Some(end) = object.properties.get_mut("to") {
                *end = or_null(end.clone());
            }
            object.properties.insert(kind.one.to_owned(), no_item());
            object.properties.insert(kind.many.to_owned(), no_items());
        }
        range
    }
}

/// The names of the schemas of one kind of body.
struct Names {
    one: String,
    many: String,
    range: String,
}

impl Names {
    fn of<T>(kind: &ItemKind<T>) -> Self {
        let (one, many) = (capital(kind.one), capital(kind.many));
        Self { range: format!("{one}Range"), one: format!("{one}Wrapped"), many: format!("{many}Wrapped") }
    }
}

fn capital(word: &str) -> String {
    let mut letters = word.chars();
    letters.next().map_or_else(String::new, |first| first.to_ascii_uppercase().to_string() + letters.as_str())
}

fn closed(description: String) -> Object {
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .description(Some(description))
        .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)))
        .build()
}

/// A member without an item, which some clients send because they send every member they know. The server also accepts
/// an empty list here, and an empty object in place of a list; a schema with both is more than generators of clients can
/// read.
fn no_item() -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Object, Type::Null]))
        .max_properties(Some(0))
        .description(Some("Ignored in this request."))
        .into()
}

/// The same for a list.
fn no_items() -> RefOr<Schema> {
    ArrayBuilder::new()
        .schema_type(SchemaType::from_iter([Type::Array, Type::Null]))
        .max_items(Some(0))
        .description(Some("Ignored in this request."))
        .into()
}

/// An instant, or the empty text that some clients send for none.
const INSTANT_OR_EMPTY: &str = "^([0-9]{4}-[0-9]{2}-[0-9]{2}.*)?$";

/// A member that may be null, with null as its example. An instant may also be empty.
fn or_null(mut schema: RefOr<Schema>) -> RefOr<Schema> {
    if let RefOr::T(Schema::Object(object)) = &mut schema {
        if object.format == Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)) {
            object.format = None;
            object.pattern = Some(INSTANT_OR_EMPTY.to_owned());
        }
        if let SchemaType::Type(kind) = &object.schema_type {
            object.schema_type = SchemaType::from_iter([kind.clone(), Type::Null]);
        }
        object.example = Some(serde_json::Value::Null);
    }
    schema
}
