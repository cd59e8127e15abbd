//! Keyset pagination of lists.

/// Asks for the part of a list that follows a key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PageRequest {
    /// The last key already seen; `None` for the first page.
    pub after: Option<i64>,
    /// The most items to return.
    pub limit: u32,
}

impl PageRequest {
    /// The most items that a page may have.
    pub const LIMIT_MAX: u32 = 1_000;

    /// The first page of this size.
    pub const fn first(limit: u32) -> Self {
        Self { after: None, limit }
    }
}

/// A page of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// The items, in key order.
    pub items: Vec<T>,
    /// The key after which the next page begins; `None` on the last page.
    pub next: Option<i64>,
}

impl<T> Page<T> {
    /// Makes a page from up to `limit + 1` items; the extra one shows that there is more.
    pub fn cut(mut items: Vec<T>, limit: u32, key: impl Fn(&T) -> i64) -> Self {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let more = items.len() > limit;
        items.truncate(limit);
        let next = if more { items.last().map(key) } else { None };
        Self { items, next }
    }
}
