//! Teltonika frames: a login with its length, records after four zeros, and a lone `FF` that keeps the connection open.

use crate::framer::{Framer, Step, skip_to};

/// Maximum number of bytes of records a frame may have.
const MAX: usize = 8192 - 12;
/// Maximum number of characters of a login.
const LOGIN_MAX: u8 = 32;

/// Splits a stream into Teltonika frames.
#[derive(Clone, Copy, Debug)]
pub(super) struct TeltonikaFramer;

impl Framer for TeltonikaFramer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        match bytes {
            [0xff, ..] => Step::whole(bytes, 1),
            [0] | [0, 0] | [0, 0, 0] => Step::Wait,
            [0, length @ 1..=LOGIN_MAX, rest @ ..] => {
                let length = usize::from(*length);
                let name = rest.get(..length).unwrap_or(rest);
                if !name.iter().all(u8::is_ascii_alphanumeric) {
                    return begin_again(bytes);
                }
                Step::whole(bytes, length + 2)
            }
            [0, 0, 0, 0, a, b, c, d, rest @ ..] => {
                let length = usize::try_from(u32::from_be_bytes([*a, *b, *c, *d])).unwrap_or(usize::MAX);
                let known =
                    rest.first().is_none_or(|codec| matches!(codec, 0x07 | 0x08 | 0x0c..=0x10 | 0x8e));
                if length == 0 || length > MAX || !known {
                    return begin_again(bytes);
                }
                Step::whole(bytes, length + 12)
            }
            [0, 0, 0, 0, ..] => Step::Wait,
            _ => begin_again(bytes),
        }
    }
}

fn begin_again(bytes: &[u8]) -> Step<'_> {
    skip_to(bytes, |byte| matches!(byte, 0 | 0xff))
}
