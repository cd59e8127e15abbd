//! First bytes of `CalAmp` datagrams.

use crate::sniff::Sniff;

/// Options with an identifier of packed digits and its type, as every unit sends them by default.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    match bytes {
        [] | [0x83 | 0x87 | 0x8b] => Sniff::More,
        [0x83 | 0x87 | 0x8b, 4..=10, ..] => Sniff::Yes,
        _ => Sniff::No,
    }
}
