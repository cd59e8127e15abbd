//! The fast path for bodies: common items are read directly from the text, others through a JSON value. Whatever it
//! cannot decide is left to the slow path, which parses the whole document.

use perigee_core::zone::Zone;

use super::batch::{BatchBuilder, ItemError, malformed};
use super::item_kind::{BodyContent, ItemKind, ItemPosition};
use crate::http::error::{ApiError, ApiResult};
use crate::http::error_code::ErrorCode;
use crate::http::json::{MAX_VALUES, Scanner, parse_bounded, parse_strict_part};

/// One pass over a body.
#[derive(Debug)]
pub(super) struct FastPath<'f, T> {
    kind: &'f ItemKind<T>,
    /// The zone of times without an offset.
    zone: &'f Zone,
    /// Bytes that may still be read on the slow path.
    slow_bytes: usize,
    /// Values in the lines so far.
    values: usize,
    items: BatchBuilder<T>,
}

impl<'f, T> FastPath<'f, T> {
    /// A pass that reads at most `slow_bytes` bytes on the slow path.
    pub(super) const fn new(kind: &'f ItemKind<T>, zone: &'f Zone, slow_bytes: usize) -> Self {
        Self { kind, zone, slow_bytes, values: 0, items: BatchBuilder::new() }
    }

    /// The items of a document. None if it has no items, is invalid anywhere, or exceeds the limit of the slow path.
    pub(super) fn document(mut self, body: &[u8]) -> Option<BatchBuilder<T>> {
        let text = std::str::from_utf8(body).ok()?;
        let mut scanner = Scanner::new(text.strip_prefix('\u{feff}').unwrap_or(text));
        match scanner.peek()? {
            b'[' => self.array(&mut scanner, ItemPosition::Array)?,
            b'{' => self.object(&mut scanner)?,
            _ => return None,
        }
        (scanner.is_at_end() && scanner.values() <= MAX_VALUES).then_some(self.items)
    }

    /// The items of lines. None only if they exceed the limit of the slow path.
    pub(super) fn lines(mut self, body: &[u8]) -> Option<ApiResult<BodyContent<T>>> {
        let lines = body.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let mut count = 0;
        for line in lines {
            count += 1;
            if count <= self.kind.most {
                let item = self.line(line)?;
                self.items.add(item);
                if self.values > MAX_VALUES {
                    return Some(Err(too_many_values()));
                }
            }
        }
        Some(self.kind.check_count(count).map(|()| BodyContent::Store(self.items.finish())))
    }

    fn line(&mut self, line: &[u8]) -> Option<Result<T, ItemError>> {
        if let Some(item) = std::str::from_utf8(line).ok().and_then(|text| self.scan_all(text)) {
            return Some(Ok(item));
        }
        self.slow_bytes = self.slow_bytes.checked_sub(line.len())?;
        let pointer = ItemPosition::Array.of(self.items.count());
        Some(match parse_bounded(line, MAX_VALUES) {
            Ok(parsed) => {
                self.values += parsed.values;
                (self.kind.validate)(&parsed.value, pointer, self.zone)
            }
            Err(unread) => Err(malformed(unread.problem, &pointer)),
        })
    }

    fn scan_all(&mut self, text: &str) -> Option<T> {
        let mut scanner = Scanner::new(text);
        let item = (self.kind.scan)(&mut scanner, self.zone)?;
        self.values += scanner.values();
        scanner.is_at_end().then_some(item)
    }

    /// An object that is an item, or contains only items.
    fn object(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        let mut inside = scanner.clone();
        if let Some(item) = (self.kind.scan)(scanner, self.zone) {
            self.items.reserve(1);
            self.items.push(item);
            return Some(());
        }
        inside.take(b'{');
        match inside.name()? {
            name if name == self.kind.many => {
                self.array(&mut inside, ItemPosition::MemberArray(self.kind.many))?;
            }
            name if name == self.kind.one => self.item(&mut inside, ItemPosition::Member(self.kind.one))?,
            _ => return None,
        }
        inside.count_values(2);
        *scanner = inside;
        scanner.take(b'}').then_some(())
    }

    fn array(&mut self, scanner: &mut Scanner<'_>, position: ItemPosition) -> Option<()> {
        if !scanner.take(b'[') {
            return None;
        }
        let length = scanner.remaining();
        loop {
            self.item(scanner, position)?;
            if self.items.count() == 1 {
                // Reserves memory for all other items at once: they are probably about as long as the first.
                let expected = scanner.remaining() / (length - scanner.remaining()).max(1);
                self.items.reserve(expected.min(self.kind.most));
            }
            if !scanner.take(b',') {
                break;
            }
            if self.items.count() == self.kind.most {
                return None;
            }
        }
        scanner.count_values(1);
        scanner.take(b']').then_some(())
    }

    /// One item, from the text or else through a JSON value.
    fn item(&mut self, scanner: &mut Scanner<'_>, position: ItemPosition) -> Option<()> {
        let begin = scanner.clone();
        if let Some(item) = (self.kind.scan)(scanner, self.zone) {
            scanner.count_values(1);
            self.items.push(item);
            return Some(());
        }
        *scanner = begin;
        let text = scanner.nested()?;
        self.slow_bytes = self.slow_bytes.checked_sub(text.len())?;
        let (item, values) = parse_strict_part(text, position.depth())?;
        scanner.count_values(values);
        let pointer = position.of(self.items.count());
        self.items.add((self.kind.validate)(&item, pointer, self.zone));
        Some(())
    }
}

fn too_many_values() -> ApiError {
    ApiError::new(
        ErrorCode::BodyTooLarge,
        format!("The lines have more than {MAX_VALUES} JSON values. Send them in parts."),
    )
}

#[cfg(test)]
mod tests;
