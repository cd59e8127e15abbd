//! What a user would do instead: a row per location in a plain table, written and read without any HTTP or JSON, which
//! favours it.

mod figures;
mod postgres;
mod source;
mod sqlite;

pub(crate) use figures::measure;
