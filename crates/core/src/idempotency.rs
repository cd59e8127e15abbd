//! Requests that create something and may be sent twice: the second time nothing more is made.

use crate::id::UserId;

/// How long an answer is remembered.
pub const KEY_RETENTION_MS: i64 = 24 * 60 * 60 * 1000;

/// What makes a request the same as another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// Who sent it.
    pub user: UserId,
    /// Method and path.
    pub endpoint: String,
    /// The client's key.
    pub key: String,
    /// The hash of its body: another body under the same key is a mistake.
    pub body_hash: [u8; 32],
}

/// Something that was made, now or when the same request was first sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Created<T> {
    /// Made now.
    Now(T),
    /// Made by the first request, as it was then.
    Before(T),
}

impl<T> Created<T> {
    /// The thing itself.
    pub fn into_inner(self) -> T {
        match self {
            Self::Now(thing) | Self::Before(thing) => thing,
        }
    }
}
