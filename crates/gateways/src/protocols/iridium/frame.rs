//! Frames of `DirectIP`: a revision, a length of two bytes, and elements.

use crate::framer::{Framer, Step, skip_to};
use crate::sniff::Sniff;

/// The only protocol revision.
pub(super) const REVISION: u8 = 1;
/// Bytes of the protocol revision and the overall length.
pub(super) const HEAD: usize = 3;
/// The largest length that two bytes can hold.
pub(super) const MAX_FRAME: usize = HEAD + 65_535;
/// An element's kind and length.
const ELEMENT_HEAD: usize = 3;

/// Splits a stream into `DirectIP` messages by their overall length.
#[derive(Clone, Copy, Debug)]
pub(super) struct IridiumFramer;

const fn is_element(kind: u8) -> bool {
    matches!(kind, 0x01..=0x05 | 0x41..=0x46)
}

impl Framer for IridiumFramer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        match bytes {
            [] | [REVISION] | [REVISION, _] => Step::Wait,
            [REVISION, high, low, rest @ ..] => {
                let length = usize::from(u16::from_be_bytes([*high, *low]));
                match rest.first() {
                    _ if length < ELEMENT_HEAD => Step::Skip(1),
                    None => Step::Wait,
                    Some(kind) if !is_element(*kind) => Step::Skip(1),
                    Some(_) => Step::whole(bytes, HEAD + length),
                }
            }
            _ => skip_to(bytes, |byte| byte == REVISION),
        }
    }
}

/// A message of the gateway begins with a header of 28 bytes or a location of 11.
pub(super) fn sniff(bytes: &[u8]) -> Sniff {
    let known =
        |element: &[u8]| Sniff::prefix(element, &[0x01, 0, 28]).or(Sniff::prefix(element, &[0x03, 0, 11]));
    match bytes {
        [] | [REVISION] | [REVISION, _] | [REVISION, _, _] => Sniff::More,
        [REVISION, _, _, element @ ..] => known(element.get(..3).unwrap_or(element)),
        _ => Sniff::No,
    }
}
