//! Finding frames in a stream.

use std::borrow::Cow;

/// What a framer sees at the front of the bytes that have arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The front may become a frame when more arrives.
    Wait,
    /// This many bytes are no part of a frame. At least one.
    Skip(usize),
    /// A frame.
    Frame {
        /// Bytes of the stream it took, with its delimiters. At least one.
        consumed: usize,
        /// The frame as a decoder reads it.
        frame: Cow<'a, [u8]>,
    },
}

impl<'a> Step<'a> {
    /// A frame that is the bytes as they came.
    pub fn whole(bytes: &'a [u8], length: usize) -> Self {
        Self::within(bytes, length, 0, length)
    }

    /// A frame that is a part of the bytes it consumes.
    pub fn within(bytes: &'a [u8], consumed: usize, from: usize, to: usize) -> Self {
        bytes
            .get(from..to)
            .filter(|_| consumed <= bytes.len())
            .map_or(Self::Wait, |frame| Self::Frame { consumed, frame: Cow::Borrowed(frame) })
    }
}

/// Cuts a stream into frames.
///
/// The same stream gives the same frames however it is split: a decision depends on the bytes before it alone, never on
/// where what has arrived ends.
pub trait Framer: Send {
    /// Looks at the bytes that have arrived and are not consumed.
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a>;

    /// The length of the frame that the bytes for which [`Framer::step`] waits are, if nothing follows them. For protocols
    /// in which the next frame tells where one ends.
    fn end(&self, _bytes: &[u8]) -> Option<usize> {
        None
    }
}

/// Frames that end with a line's end, which is not part of them: carriage return, line feed, or both. Blank lines are no
/// frames.
#[derive(Clone, Copy, Debug)]
pub struct LineFramer {
    /// Bytes a line may have; of a longer one the whole is passed over.
    pub max: usize,
}

impl Framer for LineFramer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        delimited(bytes, self.max, |byte| matches!(byte, b'\r' | b'\n'))
    }
}

/// The frame up to a delimiter, without it; more delimiters in front are passed over.
pub fn delimited(bytes: &[u8], max: usize, is_end: impl Fn(u8) -> bool) -> Step<'_> {
    let leading = bytes.iter().take_while(|byte| is_end(**byte)).count();
    if leading > 0 {
        return Step::Skip(leading);
    }
    match bytes.iter().take(max + 1).position(|byte| is_end(*byte)) {
        Some(end) => Step::within(bytes, end + 1, 0, end),
        None if bytes.len() > max => Step::Skip(max),
        None => Step::Wait,
    }
}

/// The framer of a protocol of datagrams alone: what arrives by a stream is no frame.
#[derive(Clone, Copy, Debug)]
pub struct NoStream;

impl Framer for NoStream {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        if bytes.is_empty() { Step::Wait } else { Step::Skip(bytes.len()) }
    }
}

/// Passes over everything before the next byte that may begin a frame.
pub fn skip_to(bytes: &[u8], begins: impl Fn(u8) -> bool) -> Step<'_> {
    match bytes.iter().skip(1).position(|byte| begins(*byte)) {
        Some(before) => Step::Skip(before + 1),
        None if bytes.is_empty() => Step::Wait,
        None => Step::Skip(bytes.len()),
    }
}

/// Where a sequence of bytes begins.
pub fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len().max(1)).position(|window| window == wanted)
}
