//! An account's own template, as stored.

use crate::revision::Revision;
use crate::time::Timestamp;

/// An account's version of one template.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredTemplate {
    /// Counts the changes; 0 if never set.
    pub revision: Revision,
    /// The account's own source; `None` if the built-in one is used.
    pub source: Option<String>,
    /// When it was last changed, if ever.
    pub last_modified: Option<Timestamp>,
}

impl StoredTemplate {
    /// The state before anything was set.
    pub const UNSET: Self = Self { revision: Revision(0), source: None, last_modified: None };
}
