//! XML read event by event, with the line each event ends on.

use std::io::{self, BufRead, Read};

use anyhow::{Result, anyhow};
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};

/// The name of an element.
#[derive(Clone, Copy, Debug)]
pub(super) struct Name<'n> {
    /// The namespace prefix, which other programs choose freely.
    pub(super) prefix: Option<&'n str>,
    /// The name without the prefix.
    pub(super) local: &'n str,
}

impl<'n> Name<'n> {
    fn of(whole: &'n str) -> Self {
        match whole.split_once(':') {
            Some((prefix, local)) => Self { prefix: Some(prefix), local },
            None => Self { prefix: None, local: whole },
        }
    }
}

/// Receives the events of a document.
pub(super) trait Visit {
    /// Called at the start tag of an element; `line` counts from 1.
    fn begin(&mut self, name: &str, element: &Attributes<'_>, line: u64) -> io::Result<()>;
    /// Called at the end tag of an element, with the text directly before it.
    fn end(&mut self, name: Name<'_>, text: &str, line: u64) -> io::Result<()>;
}

/// The attributes of an element.
pub(super) struct Attributes<'e>(&'e BytesStart<'e>);

impl Attributes<'_> {
    /// The value of the attribute with this name.
    pub(super) fn get(&self, name: &str) -> Option<String> {
        let found = self.0.attributes().flatten().find(|each| each.key.local_name().as_ref() == name)?;
        Some(found.value.into_owned())
    }
}

/// Reads a document event by event.
pub(super) fn walk(input: impl BufRead, visitor: &mut impl Visit) -> Result<()> {
    let mut reader = Reader::from_reader(Counted { input, lines: 1 });
    let (mut buffer, mut text) = (Vec::new(), String::new());
    loop {
        let event = reader.read_event_into(&mut buffer);
        let event = match event {
            Ok(event) => event,
            Err(error) => return Err(anyhow!("line {}: {error}", reader.get_ref().lines)),
        };
        let line = reader.get_ref().lines;
        match event {
            Event::Start(element) => {
                text.clear();
                visitor.begin(element.local_name().as_ref(), &Attributes(&element), line)?;
            }
            Event::Empty(element) => {
                visitor.begin(element.local_name().as_ref(), &Attributes(&element), line)?;
                visitor.end(Name::of(element.name().as_ref()), "", line)?;
            }
            Event::Text(part) => text.push_str(&part),
            Event::CData(part) => text.push_str(&part),
            Event::GeneralRef(reference) => match resolve(&reference) {
                Some(sign) => text.push(sign),
                None => return Err(anyhow!("line {line}: the entity \"{}\" is unknown", &*reference)),
            },
            Event::End(element) => {
                visitor.end(Name::of(element.name().as_ref()), text.trim(), line)?;
                text.clear();
            }
            Event::Eof => return Ok(()),
            _ => {}
        }
        buffer.clear();
    }
}

/// The character of a reference such as `amp` or `#10`.
fn resolve(reference: &str) -> Option<char> {
    match reference {
        "amp" => Some('&'),
        "lt" => Some('<'),
        "gt" => Some('>'),
        "quot" => Some('"'),
        "apos" => Some('\''),
        _ => {
            let number = reference.strip_prefix('#')?;
            let code = match number.strip_prefix('x') {
                Some(digits) => u32::from_str_radix(digits, 16),
                None => number.parse(),
            };
            char::from_u32(code.ok()?)
        }
    }
}

/// Counts the lines that were read.
struct Counted<R> {
    input: R,
    lines: u64,
}

impl<R: BufRead> Read for Counted<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let read = self.input.read(into)?;
        self.lines += into[..read].iter().filter(|byte| **byte == b'\n').count() as u64;
        Ok(read)
    }
}

impl<R: BufRead> BufRead for Counted<R> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        self.input.fill_buf()
    }

    fn consume(&mut self, count: usize) {
        if let Ok(available) = self.input.fill_buf() {
            let consumed = &available[..count.min(available.len())];
            self.lines += consumed.iter().filter(|byte| **byte == b'\n').count() as u64;
        }
        self.input.consume(count);
    }
}
