//! Submissions of locations and alerts: the layouts of a body, validation item by item, and the answer.

mod attributes;
mod batch;
mod body_schema;
mod fast_path;
mod item_kind;
mod schema;

pub use attributes::{attribute_bytes, check_texts, read_attributes, write_attributes};
pub use batch::{Batch, ItemError, Rejection, RejectionCode, Stored};
pub use body_schema::BodySchema;
pub use item_kind::{BodyContent, ItemKind, Layout, ignore_range};
pub use schema::{AttributeValue, open_schema};
