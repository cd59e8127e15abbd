//! Telling a protocol by the first bytes of a connection.

use crate::protocol::{PROTOCOLS, Protocol};

/// What first bytes say about one protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sniff {
    /// It is this one.
    Yes,
    /// It may be; more bytes tell.
    More,
    /// It is another.
    No,
}

impl Sniff {
    /// Whether the bytes begin with this; what has arrived may be shorter.
    pub fn prefix(bytes: &[u8], wanted: &[u8]) -> Self {
        if bytes.starts_with(wanted) {
            Self::Yes
        } else if wanted.starts_with(bytes) {
            Self::More
        } else {
            Self::No
        }
    }

    /// The better of two.
    #[must_use]
    pub const fn or(self, other: Self) -> Self {
        match (self, other) {
            (Self::Yes, _) | (_, Self::Yes) => Self::Yes,
            (Self::More, _) | (_, Self::More) => Self::More,
            (Self::No, Self::No) => Self::No,
        }
    }
}

/// The protocol of a connection's first bytes: the first of the table that is sure, once none before it may still be.
///
/// `None` with `more` true asks for more bytes.
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
