//! Ruptela frames: a length of two bytes, that many bytes, a checksum of two.

use crate::framer::{Framer, Step};
use crate::sniff::Sniff;

/// Longer than the longest packet of any unit.
pub(super) const MAX: usize = 4096;
/// The identifier of the device and a command.
const LEAST: usize = 9;

/// Splits a stream into Ruptela frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct RuptelaFramer;

/// Whether a frame may begin here: a plausible length, and an identifier below 10^16, as all IMEIs of fifteen digits
/// are.
fn may_begin(bytes: &[u8]) -> bool {
    let length = match bytes {
        [high, low, ..] => usize::from(u16::from_be_bytes([*high, *low])),
        [high] => usize::from(*high) << 8 | 0xff,
        [] => return true,
    };
    (LEAST..=MAX - 4).contains(&length)
        && bytes.get(2).is_none_or(|byte| *byte == 0)
        && bytes.get(3).is_none_or(|byte| *byte <= 0x23)
}

impl Framer for RuptelaFramer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        if !may_begin(bytes) {
            return Step::Skip(1);
        }
        match bytes {
            [high, low, _, _, ..] => Step::whole(bytes, usize::from(u16::from_be_bytes([*high, *low])) + 4),
            _ => Step::Wait,
        }
    }
}

/// A length, an identifier and a known command.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    if !may_begin(bytes) {
        return Sniff::No;
    }
    match bytes.get(10) {
        None => Sniff::More,
        Some(1..=9 | 15..=17 | 30..=40 | 68) => Sniff::Yes,
        Some(_) => Sniff::No,
    }
}
