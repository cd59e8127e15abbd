//! The alternative that a user could build: one row per location in a plain table, written and read without HTTP or
//! JSON, which favours it.

mod figures;
mod postgres;
mod source;
mod sqlite;

pub(crate) use figures::measure;
