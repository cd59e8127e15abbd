//! Templates of messages, in the recipient's language, time zone and units.
//!
//! Accounts may write their own. A template has a budget of time and memory and sees nothing but its data; if it
//! fails, the built-in one is used.

mod composer;
mod consent;
mod count;
mod engine;
mod facts;
mod filter;
mod format;
mod guard;
mod instrument;
mod kind;
mod meter;
mod password_link;
mod report;
mod report_mail;
mod sample;
mod sos_notice;
mod test;
mod words;

pub use composer::{AccountTemplates, Composer, CustomTemplates};
pub use engine::{TemplateError, check, render, render_within};
pub use facts::Facts;
pub use kind::{TemplateKind, Topic, UnknownKind};
pub use meter::Limits;
pub use sample::sample;
pub(crate) use words::Labels;
pub use words::alert_title;
