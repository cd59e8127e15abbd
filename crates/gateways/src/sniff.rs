//! Recognises a protocol by the first bytes of a connection.

use crate::protocol::{PROTOCOLS, Protocol};

/// Whether the first bytes match a protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniff {
    /// The bytes are of this protocol.
    Yes,
    /// They may be; more bytes are needed to decide.
    More,
    /// They are not.
    No,
}

impl Sniff {
    /// Whether the bytes begin with this prefix; they may still be incomplete.
    pub fn prefix(bytes: &[u8], wanted: &[u8]) -> Self {
        if bytes.starts_with(wanted) {
            Self::Yes
        } else if wanted.starts_with(bytes) {
            Self::More
        } else {
            Self::No
        }
    }

    /// The more certain of two results.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            (Self::More, _) | (_, Self::More) => Self::More,
            (Self::No, Self::No) => Self::No,
        }
    }
}

/// The protocol of a connection's first bytes: the first in the table that matches, once no earlier one may still
/// match.
///
/// The boolean is true if more bytes are needed to decide.
pub fn sniff(bytes: &[u8]) -> (Option<&'static Protocol>, bool) {
    for protocol in PROTOCOLS {
        match (protocol.sniff)(bytes) {
            Sniff::Yes => return (Some(protocol), false),
            Sniff::More => return (None, true),
            Sniff::No => {}
        }
    }
    (None, false)
}
