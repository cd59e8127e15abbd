//! A template of an account's own, as it is kept.

use crate::revision::Revision;
use crate::time::Timestamp;

/// What an account made of one template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTemplate {
    /// Counts the changes.
    pub revision: Revision,
    /// Its own; none where the built-in one speaks.
    pub source: Option<String>,
    /// When it was last changed, if ever.
    pub last_modified: Option<Timestamp>,
}

impl StoredTemplate {
    /// One that was never touched.
    pub const NEVER: Self = Self { revision: Revision(0), source: None, last_modified: None };
}
