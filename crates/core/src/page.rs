//! Lists in pages: where to go on from, and how many.

/// A part of a list, asked for by the key after which it begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The last key already seen.
    pub after: Option<i64>,
    /// Items at the most.
    pub limit: u32,
}

impl PageRequest {
    /// Items a page may have.
    pub const LIMIT_MAX: u32 = 1_000;

    /// The first page of this size.
    pub const fn first(limit: u32) -> Self {
        Self { after: None, limit }
    }
}

/// A part of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in key order.
    pub items: Vec<T>,
    /// The key to go on after, when there is more.
    pub next: Option<i64>,
}

impl<T> Page<T> {
    /// Makes a page from up to one item more than was asked for.
    pub fn cut(mut items: Vec<T>, limit: u32, key: impl Fn(&T) -> i64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(key) } else { None };
        Self { items, next }
    }
}
