//! What locations and alerts have in common when they are sent: the forms of a body, items judged one by one,
//! and what became of them.

mod attributes;
mod batch;
mod form;
mod quick;
mod schema;

pub use attributes::{read_attributes, write_attributes};
pub use batch::{Batch, ItemError, Rejection, RejectionCode, Stored};
pub use form::{Asked, Forms, Layout};
pub use schema::{AttributeValue, open_schema};
