//! H02 frames: text from `*` to `#`, binary of 32, 42 or 45 bytes after `$`.

use crate::framer::{Framer, Step, skip_to};
use crate::sniff::Sniff;

const MAX: usize = 2048;
/// Bytes of the usual binary frame.
const SHORT: usize = 32;
/// Bytes of a binary frame with a name of 15 digits.
const NAMED: usize = 42;
/// Bytes of a binary frame with a cell.
const LONG: usize = 45;

/// Splits a stream into H02 frames.
///
/// A binary frame does not contain its length, so it ends where the next begins: after 32 bytes if a frame begins
/// there, otherwise after 42 or 45. If nothing follows, 32 and 42 bytes are a frame too.
#[derive(Clone, Copy, Debug)]
pub(super) struct H02Framer;

const fn begins(byte: u8) -> bool {
    matches!(byte, b'*' | b'$' | b'X')
}

impl Framer for H02Framer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        match bytes.first() {
            Some(b'*') => match bytes.iter().take(MAX).position(|byte| *byte == b'#') {
                Some(end) => Step::whole(bytes, end + 1),
                None if bytes.len() >= MAX => skip_to(bytes, begins),
                None => Step::Wait,
            },
            Some(b'X') => Step::whole(bytes, SHORT),
            Some(b'$') => match (bytes.get(SHORT), bytes.get(NAMED), bytes.get(LONG - 1)) {
                (Some(next), _, _) if begins(*next) => Step::whole(bytes, SHORT),
                (_, Some(next), Some(_)) if begins(*next) => Step::whole(bytes, NAMED),
                (_, _, Some(_)) => Step::whole(bytes, LONG),
                _ => Step::Wait,
            },
            _ => skip_to(bytes, begins),
        }
    }

    fn end(&self, bytes: &[u8]) -> Option<usize> {
        let is_whole = matches!(bytes.len(), SHORT | NAMED);
        (bytes.first() == Some(&b'$') && is_whole).then_some(bytes.len())
    }
}

/// `*HQ,` with any two letters, or `$` and twelve bytes of decimal digits.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    match bytes {
        [] => Sniff::More,
        [b'*', rest @ ..] => {
            let named = rest.iter().take(2).all(u8::is_ascii_alphabetic)
                && rest.get(2).is_none_or(|byte| *byte == b',');
            match (named, rest.len()) {
                (true, 3..) => Sniff::Yes,
                (true, _) => Sniff::More,
                (false, _) => Sniff::No,
            }
        }
        [b'$', rest @ ..] => {
            let digits = rest.iter().take(12).all(|byte| byte >> 4 <= 9 && byte & 0x0f <= 9);
            match (digits, rest.len()) {
                (true, 12..) => Sniff::Yes,
                (true, _) => Sniff::More,
                (false, _) => Sniff::No,
            }
        }
        _ => Sniff::No,
    }
}
