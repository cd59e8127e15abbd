//! TK103 frames: from `(` to `)`. A text between two `$` may contain parentheses.

use crate::framer::{Framer, Step, skip_to};
use crate::sniff::Sniff;

pub(super) const MAX: usize = 4096;

/// Splits a stream into TK103 frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Tk103Framer;

impl Framer for Tk103Framer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        if bytes.first() != Some(&b'(') {
            return skip_to(bytes, |byte| byte == b'(');
        }
        let mut in_text = false;
        for (index, byte) in bytes.iter().enumerate().take(MAX) {
            match byte {
                b'$' => in_text = !in_text,
                b')' if !in_text => return Step::whole(bytes, index + 1),
                _ => {}
            }
        }
        if bytes.len() >= MAX { skip_to(bytes, |byte| byte == b'(') } else { Step::Wait }
    }
}

/// `(` and the digits of an identifier.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    match bytes {
        [] => Sniff::More,
        [b'(', rest @ ..] => match (rest.iter().take(6).all(u8::is_ascii_digit), rest.len()) {
            (true, 6..) => Sniff::Yes,
            (true, _) => Sniff::More,
            (false, _) => Sniff::No,
        },
        _ => Sniff::No,
    }
}
