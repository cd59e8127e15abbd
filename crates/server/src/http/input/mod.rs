//! Declares the members of request bodies once: the reader, the limits and the schema in the document follow from one
//! statement.
//!
//! ```ignore
//! input! {
//!     /// Members of a group that a client sets.
//!     pub(super) struct GroupInput {
//!         /// Name of the group, shown in lists.
//!         name: Name, required, example "Trawlers";
//!         /// Reporting interval of its devices, in seconds.
//!         interval_s as "intervalSeconds": Whole<1, 86_400>, nullable, example 600;
//!         /// Whether notifications are sent.
//!         enabled: bool, or(true);
//!     }
//! }
//!
//! let settings = read_body(body, &[ENVELOPE, &["id"]], |input: GroupInput, fields| {
//!     Some(GroupSettings { name: input.name?, interval_s: input.interval_s, enabled: input.enabled })
//! })?;
//! ```
//!
//! A statement makes a struct that the reader fills, with a field for each member, and its schema: closed, with the
//! limits of each kind. The comment above a member is its description in the document. After the member's name (and
//! the name in JSON, where that differs) comes its kind, a type that implements [`Member`]:
//!
//! | kind | read as | limits |
//! |---|---|---|
//! | `Name`, `Description`, any `Line` or `Lines` of `perigee_core::text` | `String` | characters, control characters |
//! | `bool`, `Whole<LEAST, MOST>` | `bool`, `u32` | both bounds |
//! | `Date`, `Zone`, `Country`, `EmailAddress`, ids | their own type | their syntax |
//! | `ByName<T>` | an id | a name, an identifier or an id |
//! | `Instant`, `InstantOrNever` | `Timestamp`, itself | a date and time |
//! | `Word<T>` | `T` | the words of [`Words`] |
//! | `List<T, LEAST, MOST>`, `Set<T, LEAST, MOST>` | `Vec<T>` | items; in a set none twice |
//! | `Object<T>`, `Objects<T, LEAST, MOST>` | what [`Part`] makes of it | those of another statement |
//! | `TagMap` | `Tags` | entries, keys, values |
//!
//! and then how it may be missing, in the words of [`Field`](super::json::Field): `required` (the field is `None`
//! only when a problem is noted), `nullable` (absent and null mean the same), `optional` (absent, but not null), or
//! `or(default)`.
//!
//! A member with a rule of its own gets a kind of its own: implement [`Member`] beside the statement, or use
//! `parsed_kinds!` for a text that is parsed, so that reading and schema stand together. Rules between members go where
//! the body is read: they see what was read and note problems in the same [`Fields`](super::json::Fields), so that one
//! error lists every problem.
//!
//! Give a statement no more visibility than it needs: the compiler then finds a member that is described and never
//! used.

mod kind;
mod schema;
mod statement;
mod word;

pub(crate) use kind::parsed_kinds;
pub use kind::{
    ByName, EmailAddress, Instant, List, Member, Object, Objects, Part, Set, TagMap, Whole, WholeU8,
};
pub(crate) use schema::{
    FULL_LINE, LINE, LINES, ObjectSchema, Property, Schemas, TRIMMED_LINE, any_of, array, id, id_pattern,
    line, one_of, text,
};
pub(crate) use statement::input;
pub use statement::{Input, read_body, read_fields};
pub(crate) use word::words;
pub use word::{Word, Words};
