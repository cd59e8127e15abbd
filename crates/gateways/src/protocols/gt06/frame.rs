//! GT06 frames: `7878`, a length of one byte, or `7979`, a length of two, up to `0D0A`.

use crate::framer::{Framer, Step, find};

/// The longest frame with a length of two bytes that any device sends: a part of a photo.
const MAX: usize = 4096;

/// Splits a stream into GT06 frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct Gt06Framer;

impl Framer for Gt06Framer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        let (first, second, third) = (bytes.first(), bytes.get(1), bytes.get(2));
        let length = match (first, second) {
            (Some(0x78), Some(0x78)) => third.map(|length| usize::from(*length) + 5),
            (Some(0x79), Some(0x79)) => {
                third.zip(bytes.get(3)).map(|(high, low)| usize::from(u16::from_be_bytes([*high, *low])) + 6)
            }
            (Some(0x78 | 0x79), None) => None,
            _ => return resynchronise(bytes),
        };
        let Some(length) = length else { return Step::Wait };
        if length > MAX {
            return resynchronise(bytes);
        }
        // Frames of access points have their count where others have a length.
        let length = match (first, bytes.get(3)) {
            (Some(0x78), None) => return Step::Wait,
            (Some(0x78), Some(0x17 | 0x69)) if third.is_some_and(|count| *count < 16) => {
                match access_point_length(bytes) {
                    Some(length) => length,
                    None => return Step::Wait,
                }
            }
            _ => length,
        };
        match bytes.get(length.saturating_sub(2)..length) {
            Some([0x0d, 0x0a]) => Step::whole(bytes, length),
            // Some clones state a length that is too large: the frame ends where a line end is followed by another
            // frame. Only bytes within the stated length are examined, so that the decision does not depend on how many
            // bytes have arrived.
            Some(_) => match next_start(bytes.get(..length).unwrap_or_default()) {
                Some(end) => Step::whole(bytes, end),
                None => resynchronise(bytes),
            },
            None => Step::Wait,
        }
    }
}

/// The length of a frame of access points and cells, by its own counts.
fn access_point_length(bytes: &[u8]) -> Option<usize> {
    let cells_at = 10 + usize::from(*bytes.get(2)?) * 7;
    let cells = usize::from(*bytes.get(cells_at)?);
    Some(cells_at + 4 + cells * 5 + 2)
}

/// The end of this frame if another begins right after it.
fn next_start(bytes: &[u8]) -> Option<usize> {
    let starts = [&b"\x0d\x0a\x78\x78"[..], b"\x0d\x0a\x79\x79"];
    starts.iter().filter_map(|start| find(bytes, start)).min().map(|at| at + 2)
}

/// Skips everything before the next two bytes that begin a frame.
fn resynchronise(bytes: &[u8]) -> Step<'_> {
    let rest = bytes.get(1..).unwrap_or_default();
    let next = [&b"\x78\x78"[..], b"\x79\x79"].iter().filter_map(|start| find(rest, start)).min();
    match (next, bytes.last()) {
        (Some(at), _) => Step::Skip(at + 1),
        // The last byte may be the first of a start.
        (None, Some(0x78 | 0x79)) if bytes.len() > 1 => Step::Skip(bytes.len() - 1),
        (None, _) => Step::Skip(bytes.len().max(1)),
    }
}
