//! The quick way through a body: items are read straight from its text where they are ordinary, and only the others
//! become values first. Whatever this cannot tell for sure is left to the careful way, which reads the whole document.

use perigee_core::zone::Zone;

use super::batch::{ItemError, Judged, malformed};
use super::form::{Asked, Forms, Place};
use crate::http::error::ApiResult;
use crate::http::json::{MAX_VALUES, Scanner, parse_strict, parse_strict_part};

/// One walk over a body.
#[derive(Debug)]
pub(super) struct Quick<'f, T> {
    forms: &'f Forms<T>,
    /// The zone of times without an offset.
    zone: &'f Zone,
    /// Bytes that may still be read the careful way.
    careful: usize,
    judged: Judged<T>,
}

impl<'f, T> Quick<'f, T> {
    /// A walk that reads no more than so many bytes the careful way.
    pub(super) const fn new(forms: &'f Forms<T>, zone: &'f Zone, careful: usize) -> Self {
        Self { forms, zone, careful, judged: Judged::new() }
    }

    /// The items of a document. None when it brings no items, is wrong anywhere, or takes too much care.
    pub(super) fn document(mut self, body: &[u8]) -> Option<Judged<T>> {
        let text = std::str::from_utf8(body).ok()?;
        let mut scanner = Scanner::new(text.strip_prefix('\u{feff}').unwrap_or(text));
        match scanner.peek()? {
            b'[' => self.array(&mut scanner, Place::Array)?,
            b'{' => self.object(&mut scanner)?,
            _ => return None,
        }
        (scanner.is_at_end() && scanner.values() <= MAX_VALUES).then_some(self.judged)
    }

    /// The items of lines. None only when they take too much care.
    pub(super) fn lines(mut self, body: &[u8]) -> Option<ApiResult<Asked<T>>> {
        let lines = body.split(|byte| *byte == b'\n').filter(|line| !line.trim_ascii().is_empty());
        let mut count = 0;
        for line in lines {
            count += 1;
            if count <= self.forms.most {
                let judged = self.line(line)?;
                self.judged.add(judged);
            }
        }
        Some(self.forms.check_count(count).map(|()| Asked::Store(self.judged.finish())))
    }

    fn line(&mut self, line: &[u8]) -> Option<Result<T, ItemError>> {
        if let Some(item) = std::str::from_utf8(line).ok().and_then(|text| self.scan_all(text)) {
            return Some(Ok(item));
        }
        self.careful = self.careful.checked_sub(line.len())?;
        let place = Place::Array.of(self.judged.count());
        Some(match parse_strict(line) {
            Ok(item) => (self.forms.judge)(&item, place, self.zone),
            Err(problem) => Err(malformed(problem, &place)),
        })
    }

    fn scan_all(&self, text: &str) -> Option<T> {
        let mut scanner = Scanner::new(text);
        let item = (self.forms.scan)(&mut scanner, self.zone)?;
        scanner.is_at_end().then_some(item)
    }

    /// An object that is an item itself, or has nothing but items in it.
    fn object(&mut self, scanner: &mut Scanner<'_>) -> Option<()> {
        let mut inside = scanner.clone();
        if let Some(item) = (self.forms.scan)(scanner, self.zone) {
            self.judged.reserve(1);
            self.judged.push(item);
            return Some(());
        }
        inside.take(b'{');
        match inside.name()? {
            name if name == self.forms.many => {
                self.array(&mut inside, Place::MemberArray(self.forms.many))?;
            }
            name if name == self.forms.one => self.item(&mut inside, Place::Member(self.forms.one))?,
            _ => return None,
        }
        inside.count_values(2);
        *scanner = inside;
        scanner.take(b'}').then_some(())
    }

    fn array(&mut self, scanner: &mut Scanner<'_>, place: Place) -> Option<()> {
        if !scanner.take(b'[') {
            return None;
        }
        let length = scanner.remaining();
        loop {
            self.item(scanner, place)?;
            if self.judged.count() == 1 {
                // The others are about as long; the vector is not moved again and again for them.
                let alike = scanner.remaining() / (length - scanner.remaining()).max(1);
                self.judged.reserve(alike.min(self.forms.most));
            }
            if !scanner.take(b',') {
                break;
            }
            if self.judged.count() == self.forms.most {
                return None;
            }
        }
        scanner.count_values(1);
        scanner.take(b']').then_some(())
    }

    /// One item, straight from the text or else through a value of it.
    fn item(&mut self, scanner: &mut Scanner<'_>, place: Place) -> Option<()> {
        let begin = scanner.clone();
        if let Some(item) = (self.forms.scan)(scanner, self.zone) {
            scanner.count_values(1);
            self.judged.push(item);
            return Some(());
        }
        *scanner = begin;
        let text = scanner.nested()?;
        self.careful = self.careful.checked_sub(text.len())?;
        let (item, values) = parse_strict_part(text, place.depth())?;
        scanner.count_values(values);
        let place = place.of(self.judged.count());
        self.judged.add((self.forms.judge)(&item, place, self.zone));
        Some(())
    }
}

#[cfg(test)]
mod tests;
