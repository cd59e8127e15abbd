//! Joins the contents that are copied to a few requests: what lies close together in the source is read together.

use std::path::Path;

use super::error::Result;
use super::header::Span;
use super::records::{Content, Record, RecordReader};

/// Maximum number of bytes between two contents of one request, which are read for nothing.
const GAP_MAX: u64 = 128 * 1024;
/// Maximum length of one request.
const SPAN_MAX: u64 = 16 * 1024 * 1024;
/// Maximum number of contents of one request.
const ITEMS_MAX: usize = 50_000;

/// A content that is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) source: u64,
    pub(super) length: u32,
    /// Whether it was read before, because it lies before others in the source.
    pub(super) is_earlier: bool,
}

/// Contents that are written one after the other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Batch {
    pub(super) items: Vec<Item>,
    /// What is read for them, from the beginning of the tiles of the source; none if all were read before.
    pub(super) span: Option<Span>,
    /// The record after the last one.
    pub(super) next_record: u64,
}

/// The batches of a plan, from a record on.
pub(super) struct Batches {
    records: RecordReader,
    at: u64,
    ahead: Option<Item>,
}

impl Batches {
    pub(super) fn open(plan: &Path, from: u64) -> Result<Self> {
        Ok(Self { records: RecordReader::open(plan, from)?, at: from, ahead: None })
    }

    pub(super) fn next(&mut self) -> Result<Option<Batch>> {
        let mut batch = Batch { next_record: self.at, ..Batch::default() };
        while let Some(item) = self.take()? {
            if !batch.add(item) {
                self.ahead = Some(item);
                break;
            }
            batch.next_record = self.at;
        }
        Ok((!batch.items.is_empty()).then_some(batch))
    }

    /// The next content that is written.
    fn take(&mut self) -> Result<Option<Item>> {
        if let Some(item) = self.ahead.take() {
            return Ok(Some(item));
        }
        while let Some(record) = self.records.next()? {
            self.at += 1;
            if let Some(item) = item_of(&record) {
                return Ok(Some(item));
            }
        }
        Ok(None)
    }
}

fn item_of(record: &Record) -> Option<Item> {
    let is_earlier = match record.content {
        Content::Known => return None,
        Content::Next => false,
        Content::Earlier => true,
    };
    Some(Item { source: record.source, length: record.length, is_earlier })
}

impl Batch {
    /// Adds a content, unless it belongs into the next batch.
    fn add(&mut self, item: Item) -> bool {
        if self.items.len() >= ITEMS_MAX {
            return false;
        }
        if !item.is_earlier {
            let end = item.source + u64::from(item.length);
            match &mut self.span {
                None => self.span = Some(Span { offset: item.source, length: item.length.into() }),
                Some(span) => {
                    let close = item.source <= span.offset + span.length + GAP_MAX;
                    if !close || end.saturating_sub(span.offset) > SPAN_MAX {
                        return false;
                    }
                    // Contents of a damaged source may overlap.
                    span.length = span.length.max(end - span.offset);
                }
            }
        }
        self.items.push(item);
        true
    }
}

/// The contents that lie before others in the source, sorted.
pub(super) fn earlier(plan: &Path) -> Result<Vec<Item>> {
    let mut records = RecordReader::open(plan, 0)?;
    let mut items = Vec::new();
    while let Some(record) = records.next()? {
        items.extend(item_of(&record).filter(|item| item.is_earlier));
    }
    items.sort_unstable_by_key(|item| item.source);
    Ok(items)
}

/// The same contents in batches that are read together.
pub(super) fn earlier_batches(items: &[Item]) -> Vec<Batch> {
    let mut batches: Vec<Batch> = Vec::new();
    for item in items {
        let item = Item { is_earlier: false, ..*item };
        if batches.last_mut().is_some_and(|batch| batch.add(item)) {
            continue;
        }
        let mut batch = Batch::default();
        batch.add(item);
        batches.push(batch);
    }
    batches
}

/// What a copy reads.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Traffic {
    pub(super) requests: u64,
    pub(super) bytes: u64,
}

/// What the copy of a plan reads.
pub(super) fn traffic(plan: &Path) -> Result<Traffic> {
    let mut traffic = Traffic::default();
    let mut count = |span: Option<Span>| {
        if let Some(span) = span {
            traffic.requests += 1;
            traffic.bytes += span.length;
        }
    };
    for batch in earlier_batches(&earlier(plan)?) {
        count(batch.span);
    }
    let mut batches = Batches::open(plan, 0)?;
    while let Some(batch) = batches.next()? {
        count(batch.span);
    }
    Ok(traffic)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::map_fetch::records::RecordWriter;

    #[test]
    fn what_is_close_is_read_together() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("plan");
        let mut writer = RecordWriter::create(&path).unwrap();
        let far = 10 * GAP_MAX;
        for (id, (source, content)) in [
            (100, Content::Next),
            (110, Content::Next),
            (5, Content::Earlier),
            (100, Content::Known),
            (500, Content::Next),
            (far, Content::Next),
            (7, Content::Earlier),
            (far + SPAN_MAX, Content::Next),
        ]
        .into_iter()
        .enumerate()
        {
            let record = Record { id: id as u64, source, output: 0, length: 10, run: 1, content };
            writer.add(&record).unwrap();
        }
        writer.finish().unwrap();
        let mut batches = Batches::open(&path, 0).unwrap();
        let all: Vec<Batch> = std::iter::from_fn(|| batches.next().unwrap()).collect();
        let seen: Vec<_> = all.iter().map(|one| (one.span, one.items.len(), one.next_record)).collect();
        let span = |offset, length| Some(Span { offset, length });
        assert_eq!(seen, [(span(100, 410), 4, 5), (span(far, 10), 2, 7), (span(far + SPAN_MAX, 10), 1, 8)]);
        let sorted: Vec<u64> = earlier(&path).unwrap().iter().map(|item| item.source).collect();
        assert_eq!(sorted, [5, 7]);
        assert_eq!(traffic(&path).unwrap(), Traffic { requests: 4, bytes: 410 + 10 + 10 + 12 });
        let mut rest = Batches::open(&path, 5).unwrap();
        assert_eq!(rest.next().unwrap(), Some(all[1].clone()), "a copy continues at a record");
    }
}
