//! Wialon IPS frames: lines that begin with `#`, by UDP with the version and the device's name before it.

use crate::sniff::Sniff;

/// A line may carry a black box of many records.
pub(super) const MAX: usize = 64 * 1024;

/// `#L#`, or a version and a name before the `#`.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    ["#L#", "#P#", "#D#", "#SD#", "#B#", "#M#", "2.0;", "2.1;"]
        .iter()
        .fold(Sniff::No, |best, prefix| best.or(Sniff::prefix(bytes, prefix.as_bytes())))
}
