//! Histories of a device: a time range from query parameters or from a body, answered in time order.

use std::fmt::Display;
use std::future::Future;

use axum::response::Response;
use perigee_core::error::StoreError;
use perigee_core::id::DeviceId;
use perigee_core::locations::location::{History, HistoryCursor, HistoryRequest, Order, TimeRange};
use perigee_core::text::Line;
use perigee_core::time::Timestamp;
use perigee_core::zone::Zone;
use serde::Serialize;
use utoipa::ToSchema;

use super::cursor::Cursor;
use super::error::ApiResult;
use super::extract::{Caller, Params};
use super::input::{Whole, input, read_fields};
use super::json::{Fields, InstantOrNever};
use super::list::{PageQuery, Position, answer_parts, written};
use crate::app::App;

/// The most items in a page of a history.
pub const LIMIT_MAX: u32 = 10_000;
/// Items fetched at a time while a complete history is streamed.
const CHUNK: u32 = 1_000;

input! {
    /// Time range of which the stored items are returned, oldest first.
    pub struct RangeInput {
        /// Start of the time range, inclusive.
        from: InstantOrNever, required, example "2026-05-01T00:00:00Z";
        /// End of the time range, inclusive. Null or empty for no end.
        to: InstantOrNever, nullable, example "2026-05-02T00:00:00Z";
        /// Maximum number of items in a page. Default: 10000 with `cursor`, no limit without.
        limit: Whole<1, LIMIT_MAX>, nullable, example 1000;
        /// Cursor of the page: `nextCursor` of the previous page.
        cursor: Line<0, 1_000>, nullable;
    }
}

/// Reports problems of a time range that is given together with items. A range with only one end is ignored.
pub fn check_range(fields: &mut Fields<'_>) {
    let _from = fields.when("from").nullable();
    let _to = fields.when("to").nullable();
    let _limit = fields.integer("limit", 1..=LIMIT_MAX).nullable();
    let _cursor = fields.text("cursor").chars(0..=1_000).nullable();
}

/// The requested part of a history.
#[derive(Debug)]
pub struct HistoryPart {
    /// The name its cursors are bound to.
    pub(super) list: String,
    /// Path and query for the `Link` to the next page; None if the request was a POST.
    pub(super) link: Option<String>,
    /// Whether one page is wanted instead of everything.
    pub(super) paged: bool,
    /// The first request to the store.
    pub(super) request: HistoryRequest,
}

/// Order of a list by `dateTime`. `asc`: oldest first; the default. `desc`: newest first.
#[derive(ToSchema)]
#[schema(as = Order, rename_all = "lowercase")]
pub enum OrderName {
    /// Oldest first. This is the default.
    Asc,
    /// Newest first.
    Desc,
}

impl Position for HistoryCursor {
    fn cursor(self) -> Cursor {
        Cursor { number: self.number, time: self.time.as_millis() }
    }
}

/// The list name in this history's cursors, so that those of another device or order are refused.
fn list_name(name: &str, of: impl Display, order: Order) -> String {
    format!("{name} {of} {order:?}")
}

fn read_cursor(list: &str, text: Option<String>) -> ApiResult<Option<HistoryCursor>> {
    let cursor = text.map(|text| Cursor::read(list, &text)).transpose()?;
    Ok(cursor
        .map(|cursor| HistoryCursor { time: Timestamp::from_millis(cursor.time), number: cursor.number }))
}

/// Items to ask for at a time.
fn page_size(limit: Option<u32>, paged: bool) -> u32 {
    limit.unwrap_or(if paged { LIMIT_MAX } else { CHUNK })
}

impl HistoryPart {
    /// Reads `from`, `to`, `order`, `limit` and `cursor` from a query and refuses other parameters. Times without an
    /// offset are in `zone`.
    pub fn of_params(mut params: Params, zone: &Zone, name: &str, of: impl Display) -> ApiResult<Self> {
        let from = params.instant("from", zone).unwrap_or(Timestamp::MIN);
        let to = params.instant("to", zone).unwrap_or(Timestamp::MAX);
        if to < from {
            params.refuse("to", "The parameter \"to\" must not be before \"from\".");
        }
        let order = params.word("order", &[("asc", Order::Ascending), ("desc", Order::Descending)]);
        let order = order.unwrap_or(Order::Ascending);
        let limit = params.number("limit", 1, LIMIT_MAX);
        let cursor = params.text("cursor");
        let link = params.link_without_cursor();
        params.finish()?;
        let list = list_name(name, of, order);
        let (paged, after) = (limit.is_some() || cursor.is_some(), read_cursor(&list, cursor)?);
        let request =
            HistoryRequest { range: TimeRange { from, to }, order, after, limit: page_size(limit, paged) };
        Ok(Self { list, link: Some(link), paged, request })
    }

    /// Reads a [`RangeInput`] from a body and refuses other members.
    pub fn of_body(fields: Fields<'_>, name: &str, device: DeviceId) -> ApiResult<Self> {
        let (range, limit, cursor) = read_fields(fields, &[], |input: RangeInput, fields| {
            let from = input.from?.or_max();
            let to = input.to.map_or(Timestamp::MAX, InstantOrNever::or_max);
            if to < from {
                fields.refuse("to", "must not be before \"from\"");
            }
            Some((TimeRange { from, to }, input.limit, input.cursor))
        })?;
        let order = Order::Ascending;
        let list = list_name(name, device, order);
        let (paged, after) = (limit.is_some() || cursor.is_some(), read_cursor(&list, cursor)?);
        let request = HistoryRequest { range, order, after, limit: page_size(limit, paged) };
        Ok(Self { list, link: None, paged, request })
    }
}

/// Answers a history under its plural name: one page if requested, else all of it as a stream.
pub async fn answer_history<T, V, F, P, G>(
    app: &App,
    caller: &Caller,
    name: &'static str,
    part: HistoryPart,
    fetch: F,
    view: G,
) -> ApiResult<Response>
where
    T: Send + 'static,
    V: Serialize + 'static,
    F: Fn(HistoryRequest) -> P + Send + Sync + 'static,
    P: Future<Output = Result<History<T>, StoreError>> + Send + 'static,
    G: Fn(T) -> V + Send + Sync + 'static,
{
    let HistoryPart { list, link, paged, request } = part;
    let fetch = move |after, limit| {
        let items = fetch(HistoryRequest { after, limit, ..request });
        async move { items.await.map(|history| (history.items, history.next)) }
    };
    let query = PageQuery { page: paged.then_some(request.limit), after: request.after, list, link };
    answer_parts(app, caller, name, query, fetch, written(view)).await
}
