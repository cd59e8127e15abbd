//! Timelines of made-up histories: by cases, and by properties of any history.

mod cases;
mod edits;
mod history;
mod properties;
mod totals;
