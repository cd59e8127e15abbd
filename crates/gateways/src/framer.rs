//! Splits a stream into frames.

use std::borrow::Cow;

/// The result of a framer on the bytes that have arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step<'a> {
    /// The bytes may become a frame when more arrive.
    Wait,
    /// This many bytes are not part of a frame. At least one.
    Skip(usize),
    /// A complete frame.
    Frame {
        /// Bytes of the stream it took, with its delimiters. At least one.
        consumed: usize,
        /// The frame as a decoder reads it.
        frame: Cow<'a, [u8]>,
    },
}

impl<'a> Step<'a> {
    /// A frame that consists of all consumed bytes.
    pub fn whole(bytes: &'a [u8], length: usize) -> Self {
        Self::within(bytes, length, 0, length)
    }

    /// A frame that is a part of the consumed bytes.
    pub fn within(bytes: &'a [u8], consumed: usize, from: usize, to: usize) -> Self {
        bytes
            .get(from..to)
            .filter(|_| consumed <= bytes.len())
            .map_or(Self::Wait, |frame| Self::Frame { consumed, frame: Cow::Borrowed(frame) })
    }
}

/// Splits a stream into frames.
///
/// The same stream gives the same frames however it is split: a decision depends only on the bytes before it, never on
/// how many bytes have arrived.
pub trait Framer: Send {
    /// Examines the bytes that have arrived and are not consumed.
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a>;

    /// The length of the frame that the waiting bytes form if nothing follows them. For protocols in which only the
    /// next frame shows where a frame ends.
    fn end(&self, _bytes: &[u8]) -> Option<usize> {
        None
    }
}

/// Frames that end with a line end, which is not part of them: carriage return, line feed, or both. Blank lines are not
/// frames.
#[derive(Clone, Copy, Debug)]
pub struct LineFramer {
    /// Maximum length of a line, in bytes. Of a longer line, this many bytes at a time are skipped until the rest fits.
    pub max: usize,
}

impl Framer for LineFramer {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        delimited(bytes, self.max, |byte| matches!(byte, b'\r' | b'\n'))
    }
}

/// The frame up to a delimiter, without it; further delimiters before it are skipped.
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

/// The framer of a protocol that uses only datagrams: bytes of a stream are not a frame.
#[derive(Clone, Copy, Debug)]
pub struct NoStream;

impl Framer for NoStream {
    fn step<'a>(&mut self, bytes: &'a [u8]) -> Step<'a> {
        if bytes.is_empty() { Step::Wait } else { Step::Skip(bytes.len()) }
    }
}

/// Skips everything before the next byte that may begin a frame.
pub fn skip_to(bytes: &[u8], begins: impl Fn(u8) -> bool) -> Step<'_> {
    match bytes.iter().skip(1).position(|byte| begins(*byte)) {
        Some(before) => Step::Skip(before + 1),
        None if bytes.is_empty() => Step::Wait,
        None => Step::Skip(bytes.len()),
    }
}

/// The index at which a sequence of bytes begins.
pub fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    memchr::memmem::find(bytes, wanted)
}
