//! The count of changes a client made to a thing: what an entity tag stands for.

use serde::{Deserialize, Serialize};

/// Counts the changes of what a client can set; live figures do not move it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Revision(pub i64);

impl Revision {
    /// The revision of a thing as it was made.
    pub const FIRST: Self = Self(1);

    /// The one after a change.
    #[must_use]
    pub const fn next(self) -> Self {
        Self(self.0 + 1)
    }
}
