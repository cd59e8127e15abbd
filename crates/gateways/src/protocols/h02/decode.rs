//! Reads H02 frames, text or binary.

use crate::decoded::{Context, DecodeError, Decoded, Decoder};

use super::binary::read_binary;
use super::text::read_text;

/// Reads H02 frames, each of which has the identifier of its device.
#[derive(Clone, Copy, Debug)]
pub(super) struct H02Decoder;

impl Decoder for H02Decoder {
    fn decode(&mut self, frame: &[u8], context: &Context<'_>) -> Decoded {
        let decoded: Decoded = match frame.first() {
            Some(b'*') => read_text(&String::from_utf8_lossy(frame), context).into(),
            Some(b'$') => read_binary(frame, context).into(),
            // Frames that begin with X have no known form.
            Some(b'X') => Decoded::nothing(),
            _ => Err(DecodeError::Malformed("a frame must begin with * or $")).into(),
        };
        decoded.in_zone(context)
    }
}
