//! Templates: what messages say, in the recipient's language, zone and units.
//!
//! Accounts may write their own. Whatever they write ends soon, stays small and reaches nothing but the facts it is
//! given; where it fails, the built-in template speaks.

mod composer;
mod consent;
mod engine;
mod facts;
mod filter;
mod format;
mod guard;
mod instrument;
mod kind;
mod meter;
mod report;
mod sample;
mod words;

pub use composer::{Composer, CustomTemplates, Customs};
pub use engine::{TemplateError, check, render, render_within};
pub use facts::Facts;
pub use kind::{TemplateKind, Topic, UnknownKind};
pub use meter::Limits;
pub use sample::sample;
