//! Idempotency keys: a creating request that is sent twice creates one object.

use crate::id::UserId;

/// How long an idempotency key is remembered, in milliseconds.
pub const KEY_RETENTION_MS: i64 = 24 * 60 * 60 * 1000;

/// Identifies a request; a repetition has the same user, endpoint and key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The user who sent the request.
    pub user: UserId,
    /// Method and path of the request.
    pub endpoint: String,
    /// The key in the header `Idempotency-Key`.
    pub key: String,
    /// SHA-256 of the body. The same key with another body is an error.
    pub body_hash: [u8; 32],
}

/// A created object, and whether this request created it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created<T> {
    /// Created by this request.
    Now(T),
    /// Created by an earlier request with the same key, in its state at that time.
    Before(T),
}

impl<T> Created<T> {
    /// The object, whichever request created it.
    pub fn into_inner(self) -> T {
        match self {
            Self::Now(object) | Self::Before(object) => object,
        }
    }
}
