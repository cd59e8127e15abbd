//! Why a message was not accepted.

use perigee_core::error::StoreError;

use crate::budget::{Exhausted, RunError};

/// Why a message was not accepted. Its sender must send it again.
#[derive(Debug, thiserror::Error)]
pub enum IngestError {
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// There was no room for the work.
    #[error(transparent)]
    Busy(#[from] RunError),
}

impl From<Exhausted> for IngestError {
    fn from(exhausted: Exhausted) -> Self {
        Self::Busy(exhausted.into())
    }
}
