//! Queclink frames: text up to `$`, binary by a length at a fixed offset, and binary records by the length after their header.

use crate::framer::{Framer, Step, skip_to};

const MAX: usize = 4096;

/// Prefixes of frames with text, or with a length at a fixed offset.
pub(super) const HEADERS: [&str; 14] = [
    "+RESP:", "+BUFF:", "+ACK:", "+RSP", "+BSP", "+EVT", "+BVT", "+INF", "+BNF", "+HBD", "+CRD", "+BRD",
    "+LGN", "+ACK",
];

/// Prefixes of frames with binary records.
pub(super) const RECORDS: &[u8] = b"+\0";

/// The offset and size of the length of a binary frame. None for a text frame.
fn length_field(header: &[u8]) -> Option<(usize, usize)> {
    match header {
        b"+RSP" | b"+BSP" | b"+EVT" | b"+BVT" => Some((9, 2)),
        b"+INF" | b"+BNF" => Some((7, 2)),
        b"+CRD" | b"+BRD" => Some((6, 2)),
        b"+ACK" => Some((6, 1)),
        b"+HBD" | b"+LGN" => Some((5, 1)),
        _ => None,
    }
}

/// Splits a stream into Queclink frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct QueclinkFramer;

impl Framer for QueclinkFramer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        let starts = HEADERS.iter().any(|header| {
            let header = header.as_bytes();
            bytes.starts_with(header) || header.starts_with(bytes)
        });
        if bytes.starts_with(RECORDS) {
            return records(bytes);
        }
        if !starts {
            return skip_to(bytes, |byte| byte == b'+');
        }
        let Some((header, fifth)) = bytes.get(..4).zip(bytes.get(4)) else { return Step::Wait };
        match length_field(header).filter(|_| *fifth != b':') {
            Some((at, width)) => {
                let Some(length) = bytes.get(at..at + width) else { return Step::Wait };
                let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
                if length < at + width || length > MAX {
                    return skip_to(bytes, |byte| byte == b'+');
                }
                Step::whole(bytes, length)
            }
            None => match bytes.iter().take(MAX).position(|byte| matches!(byte, b'$' | 0)) {
                Some(end) => Step::within(bytes, end + 1, 0, end),
                None if bytes.len() >= MAX => skip_to(bytes, |byte| byte == b'+'),
                None => Step::Wait,
            },
        }
    }
}

/// A frame of records, whose length counts all its bytes.
fn records(bytes: &[u8]) -> Step<'_> {
    /// Header, length, device and the end.
    const MIN: usize = 24;
    let Some(length) = bytes.get(2..4) else { return Step::Wait };
    let length = length.iter().fold(0, |length, byte| length << 8 | usize::from(*byte));
    if !(MIN..=MAX).contains(&length) {
        return skip_to(bytes, |byte| byte == b'+');
    }
    match bytes.get(length - 1) {
        Some(b'$') => Step::whole(bytes, length),
        Some(_) => skip_to(bytes, |byte| byte == b'+'),
        None => Step::Wait,
    }
}
