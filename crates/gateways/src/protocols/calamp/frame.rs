//! First bytes of `CalAmp` datagrams.

use crate::sniff::Sniff;

/// Options with a name of packed digits and its kind, as every unit sends them unless it was told otherwise.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    match bytes {
        [] | [0x83 | 0x87 | 0x8b] => Sniff::More,
        [0x83 | 0x87 | 0x8b, 4..=10, ..] => Sniff::Yes,
        _ => Sniff::No,
    }
}
