//! Pages of a history, by time and number, in either direction.

use perigee_core::locations::location::{History, HistoryCursor, HistoryRequest, Order};

use super::query::Query;

/// Restricts a query to the requested page and one item more; `number` is the column that orders items of one time.
pub(crate) fn restrict(query: &mut Query, request: &HistoryRequest, number: &str) {
    let (mut from, mut to) = (request.range.from, request.range.to);
    let beyond = match request.order {
        Order::Ascending => ">",
        Order::Descending => "<",
    };
    if let Some(after) = request.after {
        match request.order {
            Order::Ascending => from = from.max(after.time),
            Order::Descending => to = to.min(after.time),
        }
        query.push_with(" AND (time <> {}", after.time);
        query.push_with(&format!(" OR {number} {beyond} {{}})"), after.number);
    }
    query.push_with(" AND time BETWEEN {}", from);
    query.push_with(" AND {}", to);
    let direction = match request.order {
        Order::Ascending => "ASC",
        Order::Descending => "DESC",
    };
    let order = format!(" ORDER BY time {direction}, {number} {direction} LIMIT {{}}");
    query.push_with(&order, i64::from(request.limit) + 1);
}

/// Makes the page from up to one item more than the limit.
pub(crate) fn cut<T>(
    mut items: Vec<T>,
    request: &HistoryRequest,
    key: impl Fn(&T) -> HistoryCursor,
) -> History<T> {
    let limit = usize::try_from(request.limit).unwrap_or(usize::MAX);
    let more = items.len() > limit;
    items.truncate(limit);
    let next = if more { items.last().map(key) } else { None };
    History { items, next }
}
