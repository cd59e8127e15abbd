//! Schemas of inputs: texts, arrays, and objects combined member by member.

use serde_json::Value;
use utoipa::openapi::schema::{
    AdditionalProperties, Array, ArrayBuilder, ObjectBuilder, OneOfBuilder, SchemaFormat, SchemaType, Type,
};
use utoipa::openapi::{Object, RefOr, Schema};

/// A text on one line.
pub(crate) const LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*$";
/// A text on one line that is not blank.
pub(crate) const FULL_LINE: &str = r"^[^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x1f\x7f-\x9f]*$";
/// A text on one line without blanks around it.
pub(crate) const TRIMMED_LINE: &str =
    r"^[^\x00-\x1f\x7f-\x9f\s]([^\x00-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s])?$";
/// A text with line breaks and tabs.
pub(crate) const LINES: &str = r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*$";
/// A text with line breaks and tabs that is not blank.
const FULL_LINES: &str =
    r"^[^\x00-\x08\x0b-\x1f\x7f-\x9f]*[^\x00-\x1f\x7f-\x9f\s][^\x00-\x08\x0b-\x1f\x7f-\x9f]*$";
/// The thirteen characters of an id after its prefix: 63 bits in Crockford's alphabet.
const ID_LETTERS: &str = "[0-7][0-9a-hjkmnp-tv-z]{12}";

/// Named schemas that others refer to.
pub(crate) type Schemas = Vec<(String, RefOr<Schema>)>;

/// A text with limits of its length, and the format or pattern that `more` adds.
pub(crate) fn text(
    least: usize,
    most: usize,
    more: impl FnOnce(ObjectBuilder) -> ObjectBuilder,
) -> RefOr<Schema> {
    let length = ObjectBuilder::new()
        .schema_type(Type::String)
        .min_length((least > 0).then_some(least))
        .max_length(Some(most));
    more(length).into()
}

/// A text on one line.
pub(crate) fn line(least: usize, most: usize) -> RefOr<Schema> {
    text(least, most, |text| text.pattern(Some(if least > 0 { FULL_LINE } else { LINE })))
}

/// A text that may have line breaks and tabs.
pub(crate) fn lines(least: usize, most: usize) -> RefOr<Schema> {
    text(least, most, |text| text.pattern(Some(if least > 0 { FULL_LINES } else { LINES })))
}

/// A text on one line of any length.
pub(super) fn any_line() -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(LINE)).into()
}

/// A text in a known format.
pub(super) fn formatted(format: &str) -> RefOr<Schema> {
    let format = SchemaFormat::Custom(format.to_owned());
    ObjectBuilder::new().schema_type(Type::String).format(Some(format)).into()
}

/// A pattern that matches any of these texts.
pub(crate) fn any_of<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> String {
    let plain = |text: T| text.as_ref().replace('.', "[.]").replace('*', "[*]");
    format!("({})", texts.into_iter().map(plain).collect::<Vec<_>>().join("|"))
}

/// One of these texts.
pub(crate) fn one_of<T: AsRef<str>>(texts: impl IntoIterator<Item = T>) -> RefOr<Schema> {
    let pattern = format!("^{}$", any_of(texts));
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(pattern)).into()
}

/// The pattern of ids with this prefix.
pub(crate) fn id_pattern(prefix: &str) -> String {
    format!("^{prefix}{ID_LETTERS}$")
}

/// An id with this prefix.
pub(crate) fn id(prefix: &str) -> RefOr<Schema> {
    ObjectBuilder::new().schema_type(Type::String).pattern(Some(id_pattern(prefix))).into()
}

/// A whole number within bounds.
pub(super) fn whole(least: u32, most: u32) -> RefOr<Schema> {
    ObjectBuilder::new()
        .schema_type(Type::Integer)
        .format(Some(SchemaFormat::Custom("int32".to_owned())))
        .minimum(Some(least))
        .maximum(Some(most))
        .into()
}

/// An array of this many items.
pub(crate) fn array(items: RefOr<Schema>, least: usize, most: usize, unique: bool) -> RefOr<Schema> {
    let array = ArrayBuilder::new()
        .items(items)
        .min_items((least > 0).then_some(least))
        .max_items(Some(most))
        .unique_items(unique);
    RefOr::T(Schema::Array(array.build()))
}

/// An object of texts.
pub(super) fn map(entries: usize, key: (usize, usize), value: (usize, usize)) -> RefOr<Schema> {
    let RefOr::T(key) = line(key.0, key.1) else { return any_line() };
    ObjectBuilder::new()
        .schema_type(Type::Object)
        .property_names(Some(key))
        .additional_properties(Some(AdditionalProperties::RefOr(lines(value.0, value.1))))
        .max_properties(Some(entries))
        .into()
}

/// One member of an object: its name, description, schema and example.
pub(crate) struct Property {
    pub(crate) name: &'static str,
    /// The lines of the comment above it.
    pub(crate) comment: &'static [&'static str],
    pub(crate) schema: RefOr<Schema>,
    pub(crate) example: Option<Value>,
}

/// An object that allows only the members that are added.
pub(crate) struct ObjectSchema(Object);

impl ObjectSchema {
    /// An object with no members yet.
    pub(crate) fn new(comment: &[&str]) -> Self {
        let object = ObjectBuilder::new()
            .schema_type(Type::Object)
            .description(Some(description(comment)))
            .additional_properties(Some(AdditionalProperties::<Schema>::FreeForm(false)));
        Self(object.build())
    }

    /// Adds a member that must be there and not null.
    pub(crate) fn required(&mut self, property: Property) {
        self.0.required.push(property.name.to_owned());
        self.optional(property);
    }

    /// Adds a member that may be left out, but not be null.
    pub(crate) fn optional(&mut self, property: Property) {
        let Property { name, comment, mut schema, example } = property;
        describe(&mut schema, description(comment), example);
        self.0.properties.insert(name.to_owned(), schema);
    }

    /// Adds a member that may be left out or be null.
    pub(crate) fn nullable(&mut self, property: Property) {
        let name = property.name;
        self.optional(property);
        if let Some(schema) = self.0.properties.get_mut(name) {
            allow_null(schema);
        }
    }

    /// Adds a member that may be left out and then has this default.
    pub(crate) fn or(&mut self, property: Property, default: Value) {
        let name = property.name;
        self.optional(property);
        if let Some(RefOr::T(Schema::Object(object))) = self.0.properties.get_mut(name) {
            object.default = Some(default);
        }
    }

    /// Sets an example of the whole object, instead of the examples of its members.
    pub(crate) fn example(&mut self, example: Value) {
        self.0.example = Some(example);
    }

    pub(crate) fn build(self) -> RefOr<Schema> {
        RefOr::T(Schema::Object(self.0))
    }
}

/// The description in the document, from the lines of a comment.
fn description(comment: &[&str]) -> String {
    comment.iter().map(|line| line.trim()).collect::<Vec<_>>().join("\n")
}

fn describe(schema: &mut RefOr<Schema>, description: String, example: Option<Value>) {
    match schema {
        RefOr::Ref(reference) => reference.description = description,
        RefOr::T(Schema::Object(object)) => {
            object.description = Some(description);
            object.example = example;
        }
        RefOr::T(Schema::Array(array)) => {
            array.description = Some(description);
            array.example = example;
        }
        RefOr::T(_) => {}
    }
}

fn allow_null(schema: &mut RefOr<Schema>) {
    let or_null = |kind: &SchemaType| match kind {
        SchemaType::Type(kind) => SchemaType::from_iter([kind.clone(), Type::Null]),
        other => other.clone(),
    };
    match schema {
        RefOr::T(Schema::Object(Object { schema_type, .. }) | Schema::Array(Array { schema_type, .. })) => {
            *schema_type = or_null(schema_type);
        }
        other => {
            let null = ObjectBuilder::new().schema_type(Type::Null);
            let either = OneOfBuilder::new().item(other.clone()).item(null);
            *other = RefOr::T(Schema::OneOf(either.build()));
        }
    }
}

#[cfg(test)]
mod tests {
    use perigee_core::text::{Description, Name};
    use serde_json::json;
    use utoipa::PartialSchema as _;

    use super::*;
    use crate::http::input::{List, Whole, input, read_body};

    input! {
        /// A sample
        /// of two lines.
        struct SampleInput {
            /// Shown in lists.
            name: Name, required, example "Boat";
            /// A note.
            note: Description, nullable, example null;
            /// How often.
            interval_s as "intervalSeconds": Whole<1, 60>, optional;
            /// Whether at all.
            enabled: bool, or(true);
            /// Words.
            words: List<String, 1, 3>, nullable, example [];
        }
    }

    #[test]
    fn a_statement_makes_a_closed_schema() {
        assert_eq!(
            serde_json::to_value(SampleInput::schema()).unwrap(),
            json!({
                "type": "object",
                "description": "A sample\nof two lines.",
                "required": ["name"],
                "properties": {
                    "name": {"type": "string", "description": "Shown in lists.", "example": "Boat",
                        "minLength": 1, "maxLength": 200, "pattern": FULL_LINE},
                    "note": {"type": ["string", "null"], "description": "A note.", "example": null,
                        "maxLength": 2000, "pattern": LINES},
                    "intervalSeconds": {"type": "integer", "format": "int32", "description": "How often.",
                        "minimum": 1, "maximum": 60},
                    "enabled": {"type": "boolean", "description": "Whether at all.", "default": true},
                    "words": {"type": ["array", "null"], "items": {"type": "string", "pattern": LINE},
                        "description": "Words.", "example": [], "minItems": 1, "maxItems": 3},
                },
                "additionalProperties": false,
            })
        );
    }

    #[test]
    fn a_statement_reads_a_body_and_names_every_problem() {
        let read = |body: &Value| {
            read_body(body, &[&["id"]], |sample: SampleInput, _| {
                Some((sample.name?, sample.note, sample.interval_s, sample.enabled, sample.words))
            })
        };
        let name = "Boat".to_owned();
        assert_eq!(
            read(&json!({"id": 1, "name": name, "note": null})).unwrap(),
            (name, None, None, true, None)
        );
        let body =
            json!({"name": "", "note": "\r", "intervalSeconds": 61, "enabled": null, "words": [], "x": 1});
        let problems = read(&body).unwrap_err().problems;
        let details: Vec<&str> = problems.iter().map(|problem| problem.detail.as_str()).collect();
        assert_eq!(
            details,
            [
                "\"name\" must not be empty.",
                "\"note\" must not contain control characters other than \\n and \\t.",
                "\"intervalSeconds\" must be a whole number between 1 and 60, not 61.",
                "\"enabled\" must not be null; leave it out instead.",
                "\"words\" must have 1 to 3 items; it has 0.",
                "Unknown member \"x\". Leave it out.",
            ]
        );
    }
}
