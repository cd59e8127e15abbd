//! Meitrack frames: `$$`, a flag, a decimal length, then that many bytes from the comma to the line's end.

use crate::framer::{Framer, Step, find};
use crate::sniff::Sniff;

/// Units send at most a few kilobytes.
pub(super) const MAX: usize = 16 * 1024;
/// `$$`, a flag, five digits, a comma.
const HEAD: usize = 9;

/// Splits a stream into Meitrack frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct MeitrackFramer;

impl Framer for MeitrackFramer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        match bytes {
            [b'$', b'$', ..] => {}
            [b'$'] => return Step::Wait,
            _ => return resynchronise(bytes),
        }
        let head = bytes.get(3..bytes.len().min(HEAD)).unwrap_or_default();
        let digits = head.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let comma = match head.get(digits) {
            Some(b',') if digits > 0 => 3 + digits,
            None if bytes.len() < HEAD => return Step::Wait,
            _ => return resynchronise(bytes),
        };
        let length = head.iter().take(digits).fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0'));
        let total = comma + length;
        if length < 5 || total > MAX {
            return resynchronise(bytes);
        }
        match bytes.get(total - 5..total) {
            None => Step::Wait,
            Some([b'*', _, _, b'\r', b'\n']) => Step::whole(bytes, total),
            // The length is wrong: the frame ends with the line, if the line end is within the stated length.
            Some(_) => match find(bytes.get(..total).unwrap_or_default(), b"\r\n") {
                Some(end) => Step::whole(bytes, end + 2),
                None => resynchronise(bytes),
            },
        }
    }
}

/// Skips everything before the next `$$`.
fn resynchronise(bytes: &[u8]) -> Step<'_> {
    match bytes.get(1..).and_then(|rest| find(rest, b"$$")) {
        Some(at) => Step::Skip(at + 1),
        None if bytes.len() > 1 && bytes.last() == Some(&b'$') => Step::Skip(bytes.len() - 1),
        None => Step::Skip(bytes.len().max(1)),
    }
}

/// `$$`, a flag, a length and a comma. Binary frames of H02 may begin with `$$` and digits too, but have no comma.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    let prefix = Sniff::prefix(bytes, b"$$");
    if prefix != Sniff::Yes {
        return prefix;
    }
    let head = bytes.get(3..).unwrap_or_default();
    let digits = head.iter().take(6).take_while(|byte| byte.is_ascii_digit()).count();
    match head.get(digits) {
        Some(b',') if (1..=5).contains(&digits) => Sniff::Yes,
        None if digits < 6 => Sniff::More,
        _ => Sniff::No,
    }
}
