//! JT/T 808 frames: between two `7E`, with `7D 02` for `7E` and `7D 01` for `7D`; and texts in parentheses.

use std::borrow::Cow;

use crate::framer::{Framer, Step, skip_to};

const MAX: usize = 4096;
/// Delimiters, type, properties, identifier, serial number and checksum.
const MIN: usize = 14;

/// Splits a JT/T 808 stream into frames. Frames keep their delimiters and lose their escapes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Jt808Framer;

impl Framer for Jt808Framer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        let begin_again = || skip_to(bytes, |byte| matches!(byte, 0x7e | b'('));
        let end = match bytes.first() {
            Some(0x7e) => 0x7e,
            Some(b'(') => b')',
            _ => return begin_again(),
        };
        let Some(last) = bytes.iter().take(MAX).skip(1).position(|byte| *byte == end).map(|at| at + 1) else {
            return if bytes.len() >= MAX { begin_again() } else { Step::Wait };
        };
        if end == b')' {
            return Step::whole(bytes, last + 1);
        }
        // After invalid bytes, the end of one frame may be mistaken for the beginning of the next.
        if last + 1 < MIN {
            return Step::Skip(last);
        }
        let frame = bytes.get(..=last).unwrap_or_default();
        let frame = if frame.contains(&0x7d) { Cow::Owned(unescape(frame)) } else { Cow::Borrowed(frame) };
        Step::Frame { consumed: last + 1, frame }
    }
}

/// Resolves escapes.
pub(super) fn unescape(bytes: &[u8]) -> Vec<u8> {
    let mut plain = Vec::with_capacity(bytes.len());
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match (byte, rest.peek()) {
            (0x7d, Some(1)) => {
                plain.push(0x7d);
                rest.next();
            }
            (0x7d, Some(2)) => {
                plain.push(0x7e);
                rest.next();
            }
            _ => plain.push(byte),
        }
    }
    plain
}

/// Escapes the bytes between the delimiters.
pub(super) fn escape(frame: &[u8]) -> Vec<u8> {
    let mut escaped = Vec::with_capacity(frame.len() + 4);
    let last = frame.len().saturating_sub(1);
    for (index, byte) in frame.iter().enumerate() {
        match byte {
            0x7e if index > 0 && index < last => escaped.extend_from_slice(&[0x7d, 2]),
            0x7d => escaped.extend_from_slice(&[0x7d, 1]),
            _ => escaped.push(*byte),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_and_back() {
        let frame = [0x7e, 0x7d, 0x7e, 1, 2, 0x7d, 0x7e];
        let wire = escape(&frame);
        assert_eq!(wire, [0x7e, 0x7d, 1, 0x7d, 2, 1, 2, 0x7d, 1, 0x7e]);
        assert_eq!(unescape(&wire), frame);
    }
}
