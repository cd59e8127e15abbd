//! The revision of an object, which its entity tag contains.

use serde::{Deserialize, Serialize};

/// Counts the changes that clients made to an object. Values that the service updates, such as last seen, do not
/// count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(pub i64);

impl Revision {
    /// The revision of a new object.
    pub const FIRST: Self = Self(1);

    /// The revision after one more change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}
