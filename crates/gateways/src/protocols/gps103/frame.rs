//! GPS103 frames: text up to `;` or a line's end.

use crate::framer::{Framer, Step, delimited};
use crate::sniff::Sniff;

const MAX: usize = 2048;

/// Splits a stream into GPS103 frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gps103Framer;

impl Framer for Gps103Framer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        delimited(bytes, MAX, |byte| matches!(byte, b';' | b'\r' | b'\n'))
    }
}

/// `##,imei:`, `imei:` or the fifteen digits of a heartbeat.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    let digits = match (bytes.iter().take(15).all(u8::is_ascii_digit), bytes.len()) {
        (true, 15..) => Sniff::Yes,
        (true, _) => Sniff::More,
        (false, _) => Sniff::No,
    };
    Sniff::prefix(bytes, b"##,").or(Sniff::prefix(bytes, b"imei:")).or(digits)
}
